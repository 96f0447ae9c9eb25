// What an upstream says, on one line: without what hides from a reader, and without the secrets that it was given.
import { withoutHidden } from '../text/hidden-text.ts';

/**
 * `most` in UTF-16 units. Scrubbed as it came, for a secret may hold a space, and as it will be read: between characters that
 * nobody sees no secret is found. Only then it is cut: half of a secret would not be found either.
 */
export function oneLine(said: string, scrub: (text: string) => string, most: number): string {
  const seen = withoutHidden(scrub(said)).text.replaceAll(/\s+/g, ' ').trim();
  return scrub(seen).slice(0, most).toWellFormed();
}
