// Provider names: the spelling of a function's name that every LLM provider accepts, reversible over one set of tools.
import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
/** What all providers take unchanged. Gemini wants a letter or an underscore in front. */
const ACCEPTED_BY_ALL = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * Gives each function name its provider name: itself where providers accept it, else `.` written as `__`.
 * A hash of the name is added where that alone would be too long or stand for more than one name. No two
 * names share a spelling, no spelling is another function's own name, and the order of `names` is without
 * effect.
 */
export function assignProviderNames(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(names.filter((name) => ACCEPTED_BY_ALL.test(name)));
  const assigned = new Map<string, string>();
  let open = [...new Set(names)].filter((name) => !taken.has(name));
  for (let round = 0; open.length > 0; round += 1) {
    const wishes = open.map((name) => ({ name, spelling: spellingOf(name, round) }));
    const wanted = countBySpelling(wishes);
    // All that want one spelling go on to the next round: a winner would depend on the order.
    const settled = wishes.filter(({ spelling }) => wanted.get(spelling) === 1 && !taken.has(spelling));
    for (const { name, spelling } of settled) {
      assigned.set(name, spelling);
      taken.add(spelling);
    }
    open = open.filter((name) => !assigned.has(name));
  }
  return new Map(names.map((name) => [name, assigned.get(name) ?? name]));
}

/** Round 0 wishes for the readable spelling, each later round for another hash. */
function spellingOf(name: string, round: number): string {
  const written = name.replaceAll('.', '__').replaceAll(/[^A-Za-z0-9_-]/g, '_');
  const readable = /^[A-Za-z_]/.test(written) ? written : `_${written}`;
  const isReversible = /^[A-Za-z0-9_.-]*$/.test(name) && readable.length <= MAX_LENGTH;
  if (round === 0 && isReversible) return readable;
  const salted = round <= 1 ? name : `${name}#${round}`;
  const suffix = `_${createHash('sha256').update(salted).digest('hex').slice(0, 8)}`;
  return readable.slice(0, MAX_LENGTH - suffix.length) + suffix;
}

function countBySpelling(wishes: readonly { readonly spelling: string }[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { spelling } of wishes) counts.set(spelling, (counts.get(spelling) ?? 0) + 1);
  return counts;
}
