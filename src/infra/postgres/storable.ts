// Text as PostgreSQL can keep it: callers choose most of what is written there.

/** PostgreSQL keeps no NUL in text, and no half of a character. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\u{fffd}').toWellFormed();
}
