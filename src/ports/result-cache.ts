// ResultCache: answers kept for a time as text, and who of several that miss the same one gets to make it.

export interface CacheQuestion {
  /** Who asks: the one that is told to lead is known by it. */
  readonly token: string;
  /** How long nobody else is told to lead, if the one who was never keeps or releases. */
  readonly leadMs: number;
  /** The last part of an entry's life, in which it is stale. */
  readonly staleMs: number;
  /** A longer value than this is as good as none. */
  readonly maxBytes: number;
}

export interface CacheLook {
  readonly value?: string;
  /** False with a value: it is stale, good only where a new one cannot be had. */
  readonly fresh: boolean;
  /** The one who asked is to make the value, then `keep` or `release`. Never with a fresh one. */
  readonly lead: boolean;
}

export interface KeepTerms {
  readonly token: string;
  /** The entry's whole life, the stale part included. */
  readonly lifeMs: number;
}

/** Bounded in entries and bytes: what is kept may be gone before its time. Any method may reject. */
export interface ResultCache {
  /** One step: the value, or whether to make it. Neither: somebody else is making it, look again. */
  look(key: string, question: CacheQuestion): Promise<CacheLook>;
  /** Keeps the value, whoever leads; the token's lead ends. */
  keep(key: string, value: string, terms: KeepTerms): Promise<void>;
  /** Ends the lead without a value: the next one to look leads. Does nothing for another's token. */
  release(key: string, token: string): Promise<void>;
}
