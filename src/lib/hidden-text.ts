// Characters that a reader does not see and a model does: invisible ones, those that turn the direction, tags, controls.

/** Line feed and tab are text. Default-ignorable covers zero-width characters, tags and variation selectors. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]|(?![\n\t])\p{Cc}/gu;

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

/** The text with each of them written out, as in `read\u{200b}file`, for someone who must see what is there. */
export function showingHidden(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
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
