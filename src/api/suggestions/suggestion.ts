// Suggestion: what the calls of a tenant say that somebody may want to do.

export const SUGGESTION_KINDS = ['next', 'plan', 'mend', 'unused'] as const;

export interface Suggestion {
  /** The tool to offer after another; tools to put together; one that fails; one that nobody calls. */
  readonly kind: (typeof SUGGESTION_KINDS)[number];
  /** Of `next` two: after which, and the one to offer. Of `plan` in their order. Else one. */
  readonly tools: readonly string[];
  /** In which this was seen; 0 where sessions were not asked. */
  readonly sessions: number;
  readonly calls: number;
  /** Of `next`: of the sessions with the first tool. Of `mend`: of the tool's calls. Else 0. */
  readonly share: number;
  /** Of `mend`; else empty. */
  readonly errorType: string;
  readonly reason: string;
  readonly text: string;
}
