// What a model thinks before it answers, where its text holds that too: drafts of calls, which nobody asked for.

export interface Span {
  /** In UTF-16 units; `end` is behind it. */
  readonly start: number;
  readonly end: number;
}

/** It begins a line; its end may stand anywhere. */
const MARK = /(?:^[ \t]*<|<(\/))(?:think|thinking|reasoning)>/gim;

/**
 * What lies between <think> and </think>, in its order; to the end where it is not closed. Many templates begin it before
 * the model writes, so that only its end is in the text.
 */
export function thinkingIn(text: string): readonly Span[] {
  const spans: Span[] = [];
  let start: number | undefined;
  for (const { 0: mark, 1: slash, index } of text.matchAll(MARK)) {
    if (slash === undefined) start ??= index;
    else if (start !== undefined || spans.length === 0) {
      spans.push({ start: start ?? 0, end: index + mark.length });
      start = undefined;
    }
  }
  if (start !== undefined) spans.push({ start, end: text.length });
  return spans;
}
