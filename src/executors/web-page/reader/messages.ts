// What a reader thread is asked, and what it answers.

export type ReaderTask = PageTask | RobotsTask;

export interface PageTask {
  readonly kind: 'page';
  readonly body: Uint8Array;
  /** As the server said it; empty where it said nothing. */
  readonly contentType: string;
  /** Where the body came from: what its links start from. */
  readonly url: string;
  /** Of HTML: all of it, and not the main text alone. */
  readonly whole: boolean;
  readonly offset: number;
  readonly maxCharacters: number;
}

export interface RobotsTask {
  readonly kind: 'robots';
  readonly body: Uint8Array;
  readonly robotsUrl: string;
  readonly url: string;
  readonly userAgent: string;
}

export interface ReadPage {
  readonly kind: 'page';
  /** How `content` is written. */
  readonly format: 'markdown' | 'text';
  readonly title?: string;
  readonly byline?: string;
  readonly site?: string;
  readonly language?: string;
  readonly published?: string;
  /** The piece that was asked for, of `totalCharacters`. */
  readonly content: string;
  readonly totalCharacters: number;
}

export interface RobotsVerdict {
  readonly kind: 'robots';
  readonly allowed: boolean;
}

/** Found out by looking at the bytes: it is no text, whatever the server said. */
export interface NoText {
  readonly kind: 'no-text';
  readonly what: string;
}

export type ReaderAnswer = ReadPage | RobotsVerdict | NoText;
