// Embedder: texts as vectors of what they mean, by the model that the operator has set.

export interface Embedder {
  /** Undefined: none is set, and nothing is to be asked. */
  readonly model: string | undefined;
  /** From -1 to 1: texts that are less alike are not about the same, as far as this model goes. */
  readonly minSimilarity: number;
  /** A vector of length 1. Rejects with Error where there is none to be had within the time that settings give it. */
  embed(text: string, signal: AbortSignal): Promise<readonly number[]>;
}
