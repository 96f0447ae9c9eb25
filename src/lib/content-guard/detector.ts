// What looks for one kind of text: a place in a text where it stands.

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Detector {
  /** One of these stands in every text that has a finding. Left out: not known. */
  readonly hints?: readonly string[];
  /** A finding may begin inside of another one, which it only looks like: both are looked for. */
  readonly overlaps?: true;
  /**
   * The first finding that begins at or after `from` and before `limit`; it may end later. What stands before `from` is
   * looked at only to tell whether a word begins there. Takes time in proportion to the text, whatever it holds.
   */
  find(text: string, from: number, limit: number): Span | undefined;
  /** The same for one text in which several are looked for, from left to right: what was seen of it is kept in between. */
  within?(text: string): Pick<Detector, 'find'>;
}
