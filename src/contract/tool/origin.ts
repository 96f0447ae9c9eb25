// Origin: a document from elsewhere that brought a declaration. Whoever writes it must not act with what others may do.

export interface Origin {
  /** Which document: two declarations with one source were written by the same hand. */
  readonly source: string;
  /** Names and globs of tools of other sources that its tools may call. */
  readonly mayCall: readonly string[];
}
