// Scrubs known secrets out of what leaves the gateway, in every encoding that docs/security.md lists. By value: it needs
// no idea of where a secret might turn up. The time grows with the length of the text alone, whatever the secrets are.
import { atOnce, inSlices } from '../concurrency/in-slices.ts';
import { SecretAutomaton } from '../scrub/automaton.ts';
import { formsOf } from '../scrub/secret-forms.ts';
import { Sealed, SECRET_MARK } from '../scrub/sealed.ts';
import type { CompiledSecrets } from '../scrub/secret-scan.ts';
import { SecretStream } from '../scrub/secret-stream.ts';

export { SECRET_MARK } from '../scrub/sealed.ts';

export interface SecretScrubber {
  readonly text: (text: string) => string;
  /** At one look: false says that there may be a secret, in one of its forms. */
  readonly isClean: (text: string) => boolean;
  /**
   * A text of at most so many characters, scrubbed before it is cut: half of a secret would not be found any more. No more than twice
   * as much is looked at: whoever has cut the text before must have left more than that.
   */
  readonly cut: (text: string, most: number) => string;
  /** A JSON value with the strings, keys and numbers that hold a secret scrubbed; the same value where there is none. */
  readonly json: <Value>(value: Value) => Value;
  /** The same, for values of any size: large ones are done in slices. */
  readonly jsonInSlices: <Value>(value: Value) => Promise<Value>;
  /** For a text that comes in pieces. */
  readonly stream: () => Pick<SecretStream, 'push' | 'end'>;
}

/** UTF-16 units, and values of a JSON document, that are read in one go. */
const SLICE = 16_384;
type Entry = readonly [key: string, value: unknown];

const ESCAPES = /[%\\&]/;

/** There are none: texts are cut all the same. */
export const NOTHING_TO_SCRUB: SecretScrubber = {
  text: (text) => text,
  isClean: () => true,
  cut: (text, most) => (text.length > most ? withEllipsis(text, most) : text),
  json: (value) => value,
  jsonInSlices: async (value) => value,
  stream: () => ({ push: (piece) => piece, end: () => '' }),
};

/** At load. For secrets that come with a call there is `callScrubber`. */
export function secretScrubber(secrets: readonly string[]): SecretScrubber {
  return atOnce(compiled(secrets));
}

/** Gives way to others while it takes in secrets that are many or long. */
export function callScrubber(secrets: readonly string[]): Promise<SecretScrubber> {
  return inSlices(compiled(secrets));
}

function* compiled(secrets: readonly string[]): Generator<void, SecretScrubber> {
  try {
    const { plain, unescaped, numeric } = yield* formsOf(secrets);
    if (plain.size === 0) return NOTHING_TO_SCRUB;
    const automatons = {
      plain: yield* SecretAutomaton.build(plain),
      unescaped: yield* SecretAutomaton.build(unescaped),
    };
    return new AutomatonScrubber(automatons, numeric);
  } catch {
    // The cause stays here: whatever it says could hold a secret.
    throw new Error('The secrets could not be prepared for scrubbing: they are too many or too long.');
  }
}

class AutomatonScrubber implements SecretScrubber {
  readonly #secrets: CompiledSecrets;
  readonly #numeric: boolean;

  constructor(secrets: CompiledSecrets, numeric: boolean) {
    this.#secrets = secrets;
    this.#numeric = numeric;
  }

  readonly text = (text: string): string => (this.isClean(text) ? text : atOnce(this.#scrubbed(text)));

  readonly cut = (text: string, most: number): string => {
    if (text.length <= most) return this.text(text);
    const stream = this.stream();
    let shown = stream.push(text.slice(0, 2 * most));
    // What may be the first half of a secret stays in the stream, where the text goes on.
    if (text.length <= 2 * most) shown += stream.end();
    return withEllipsis(shown, most);
  };

  readonly json = <Value>(value: Value): Value => this.#json(value) as Value;

  readonly jsonInSlices = async <Value>(value: Value): Promise<Value> =>
    weightOf(value, SLICE) < SLICE ? this.json(value) : ((await inSlices(this.#large(value))) as Value);

  readonly stream = (): SecretStream => new SecretStream(this.#secrets);

  /** Most texts are: they cost no more than one look at each character. */
  readonly isClean = (text: string): boolean =>
    text.length < SLICE && !ESCAPES.test(text) && !this.#secrets.plain.finds(text);

  *#scrubbed(text: string): Generator<void, string> {
    const stream = new SecretStream(this.#secrets, ESCAPES.test(text));
    let shown = '';
    for (let from = 0; from < text.length; from += SLICE) {
      shown += stream.push(text.slice(from, from + SLICE));
      yield;
    }
    shown += stream.end();
    return stream.found ? shown : text;
  }

  #json(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.#number(value);
    if (Array.isArray(value)) return same(value, value.map((item) => this.#json(item))); // oxfmt-ignore
    if (typeof value !== 'object' || value === null || value instanceof Sealed) return value;
    const entries = Object.entries(value);
    return withMembers(value, entries, entries.map(([key, item]) => [this.text(key), this.#json(item)])); // oxfmt-ignore
  }

  #number(value: number): unknown {
    return this.#numeric && this.text(String(value)) !== String(value) ? SECRET_MARK : value;
  }

  *#large(value: unknown): Generator<void, unknown> {
    if (typeof value === 'string') return yield* this.#scrubbed(value);
    if (typeof value !== 'object' || value === null) return this.#json(value);
    if (weightOf(value, SLICE) < SLICE) {
      yield;
      return this.#json(value);
    }
    if (Array.isArray(value)) return same(value, yield* this.#largeItems(value));
    return yield* this.#largeMembers(value as { readonly [key: string]: unknown });
  }

  *#largeMembers(value: { readonly [key: string]: unknown }): Generator<void, unknown> {
    const keys = Object.keys(value);
    yield;
    const members: Entry[] = [];
    let isSame = true;
    for (const [at, key] of keys.entries()) {
      if (at % 1_024 === 1_023) yield;
      const item = value[key];
      const member: Entry = [yield* this.#scrubbed(key), yield* this.#large(item)];
      isSame &&= member[0] === key && member[1] === item;
      members.push(member);
    }
    if (isSame) return value;
    const scrubbed = {};
    for (const [at, [key, item]] of members.entries()) {
      if (at % 1_024 === 1_023) yield;
      // As Object.fromEntries does it: "__proto__" is a member like any other.
      Object.defineProperty(scrubbed, key, {
        value: item,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    return scrubbed;
  }

  *#largeItems(items: readonly unknown[]): Generator<void, unknown[]> {
    const scrubbed: unknown[] = [];
    for (const [at, item] of items.entries()) {
      if (at % 1_024 === 1_023) yield;
      scrubbed.push(yield* this.#large(item));
    }
    return scrubbed;
  }
}

function withEllipsis(text: string, most: number): string {
  return `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** How much there is to read, counted up to `limit`. */
function weightOf(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length + 1;
  if (typeof value !== 'object' || value === null) return 1;
  let weight = 1;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && weight < limit; at += 1)
      weight += weightOf(value[at], limit - weight);
    return weight;
  }
  for (const key in value) {
    weight += key.length + weightOf((value as Record<string, unknown>)[key], limit - weight);
    if (weight >= limit) return weight;
  }
  return weight;
}

function same(list: readonly unknown[], scrubbed: readonly unknown[]): readonly unknown[] {
  return scrubbed.every((item, index) => item === list[index]) ? list : scrubbed;
}

function withMembers(value: object, before: readonly Entry[], after: readonly Entry[]): object {
  const isSame = after.every(([key, item], at) => key === before[at]?.[0] && item === before[at]?.[1]);
  return isSame ? value : Object.fromEntries(after);
}
