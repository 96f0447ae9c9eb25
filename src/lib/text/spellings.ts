// Spellings: other names for those that somebody does not take, reversible over one set of names.
import { hash } from 'node:crypto';
import { atOnce } from '../concurrency/in-slices.ts';

const MAX_LENGTH = 64;
/** Names that are looked at between two turns of everything else. */
const SLICE = 256;

export interface SpellingRules {
  /** Names that stay as they are. */
  readonly accepted: RegExp;
  /** Writes a name so that it is accepted, but for its length and its beginning. */
  write(name: string): string;
  /** Whether what `write` makes of the name tells it apart from all that people would call something else. */
  isReadable(name: string): boolean;
}

/**
 * Gives each name its spelling: itself where it is accepted, else what `write` makes of it. A hash of the name is added where
 * that alone would be too long, could not be read back, or stands for more than one name. No two names share a spelling, no
 * spelling is another one's own name, and the order of `names` is without effect.
 */
export function assignSpellings(names: readonly string[], rules: SpellingRules): ReadonlyMap<string, string> {
  return atOnce(assigningSpellings(names, rules));
}

/** The same, with a turn for everything else in between. */
export function* assigningSpellings(
  names: readonly string[],
  rules: SpellingRules,
): Generator<void, ReadonlyMap<string, string>> {
  const taken = new Set<string>();
  const unaccepted = new Set<string>();
  for (const [at, name] of names.entries()) {
    if (at % SLICE === 0) yield;
    (rules.accepted.test(name) ? taken : unaccepted).add(name);
  }
  const assigned = new Map<string, string>();
  let open = [...unaccepted];
  for (let round = 0; open.length > 0; round += 1) {
    const wishes: { readonly name: string; readonly spelling: string }[] = [];
    for (const [at, name] of open.entries()) {
      if (at % SLICE === 0) yield;
      wishes.push({ name, spelling: spellingOf(name, round, rules) });
    }
    const wanted = countBySpelling(wishes);
    yield;
    // All that want one spelling go on to the next round: a winner would depend on the order.
    const settled = wishes.filter(({ spelling }) => wanted.get(spelling) === 1 && !taken.has(spelling));
    for (const { name, spelling } of settled) {
      assigned.set(name, spelling);
      taken.add(spelling);
    }
    open = open.filter((name) => !assigned.has(name));
    yield;
  }
  return new Map(names.map((name) => [name, assigned.get(name) ?? name]));
}

/** More names than that which want one spelling are no set that anybody has. */
const ROUNDS = 4;

/** Whether a set of names may give `name` this spelling. */
export function isSpellingOf(name: string, spelling: string, rules: SpellingRules): boolean {
  if (rules.accepted.test(name)) return false;
  return Array.from({ length: ROUNDS }, (_, round) => spellingOf(name, round, rules)).includes(spelling);
}

/** Round 0 wishes for the readable spelling, each later round for another hash. */
function spellingOf(name: string, round: number, rules: SpellingRules): string {
  const written = rules.write(name);
  const readable = /^[A-Za-z_]/.test(written) ? written : `_${written}`;
  if (round === 0 && rules.isReadable(name) && readable.length <= MAX_LENGTH) return readable;
  const salted = round <= 1 ? name : `${name}#${round}`;
  const suffix = `_${hash('sha256', salted).slice(0, 8)}`;
  return readable.slice(0, MAX_LENGTH - suffix.length) + suffix;
}

function countBySpelling(wishes: readonly { readonly spelling: string }[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { spelling } of wishes) counts.set(spelling, (counts.get(spelling) ?? 0) + 1);
  return counts;
}
