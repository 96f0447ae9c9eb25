// Characters that a reader does not see and a model does: invisible ones, those that turn the direction, tags, controls.

/**
 * Default-ignorable covers zero-width characters, fillers, tags and variation selectors; the general categories cover what
 * turns the direction, what has no meaning agreed on, and what is no character.
 */
const NOT_SEEN = String.raw`\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}`;
/** By their properties letters and symbols, and drawn as nothing: Unicode has no property for a blank glyph. */
const BLANK = String.raw`\u2800\ufffc\u{13441}\u{13442}\u{16fe4}\u{1d159}`;
/** Line feed and tab are text. */
const HIDDEN = new RegExp(String.raw`[${NOT_SEEN}${BLANK}]|(?![\n\t])\p{Cc}`, 'gu');
/** And spaces that look like another, or have no width. */
const HIDDEN_OR_SPACE = new RegExp(String.raw`${HIDDEN.source}|(?![ \n\t])\p{White_Space}`, 'gu');
const HIDDEN_OR_ANY_SPACE = new RegExp(String.raw`${HIDDEN.source}|\p{White_Space}`, 'gu');

export interface CleanText {
  readonly text: string;
  /** How many characters were taken out. */
  readonly removed: number;
}

export function withoutHidden(text: string): CleanText {
  let removed = 0;
  const clean = text.replace(HIDDEN, () => {
    removed += 1;
    return '';
  });
  return { text: clean, removed };
}

export function hasHidden(text: string): boolean {
  return text.search(HIDDEN) >= 0;
}

/** What can be seen of a text, without anything between: two that look alike are alike. */
export function seenOf(text: string): string {
  return text.replace(HIDDEN_OR_ANY_SPACE, '');
}

/**
 * The text with each of them written out, as in `read\u{200b}file`, and each space but the usual one, for someone who must
 * see what is there.
 */
export function showingHidden(text: string): string {
  return text.replace(HIDDEN_OR_SPACE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same in every string and key of a JSON value. */
export function showingHiddenIn<Value>(value: Value): Value {
  return shownIn(value) as Value;
}

function shownIn(value: unknown): unknown {
  if (typeof value === 'string') return showingHidden(value);
  if (Array.isArray(value)) return value.map(shownIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [showingHidden(key), shownIn(item)]));
}

/** At most so many bytes of UTF-8, cut between characters. */
export function cutToBytes(text: string, most: number): string {
  // No character has more bytes than three for each unit of its length.
  if (text.length * 3 <= most) return text;
  const bytes = Buffer.from(text.slice(0, most));
  if (bytes.length <= most && text.length <= most) return text;
  let end = Math.min(most, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}
