// Whether two names of users mean one person: operators and callers write them as they like.
import { seenOf } from '../text/hidden-text.ts';

/** A dot on a letter that has one is not seen: the lower case of U+0130 is such an i. */
const DOT_ON_DOT = /(?<=\p{Soft_Dotted})\u0307/gu;

/** Neither case, width, composition, blanks nor characters that cannot be seen make another person. */
function folded(name: string): string {
  const seen = seenOf(name.normalize('NFKC'));
  return seen.toUpperCase().toLowerCase().replace(DOT_ON_DOT, '').normalize('NFKC');
}

/** False where either has no name: nobody can tell. */
export function isSamePerson(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const name = folded(one);
  return name !== '' && name === folded(other);
}
