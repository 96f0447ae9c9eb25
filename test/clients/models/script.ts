// What a model says in the tests of real clients, whatever protocol it speaks: two calls, one of which waits for a human, then one with
// an image, then its last word. A server of a provider takes its turn from what the client has sent so far.

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface Turn {
  readonly text: string;
  readonly calls: readonly ScriptedCall[];
}

export const LAST_WORD = 'Bern is sunny, the money is sent, and here is the map.';

export const SCRIPT: readonly Turn[] = [
  {
    text: 'One moment.',
    calls: [
      { id: 'call_weather', name: 'city__weather', args: { city: 'Bern' } },
      { id: 'call_transfer', name: 'bank__transfer', args: { to: 'Zoë "the" Baker', amount: 12.5 } },
    ],
  },
  { text: '', calls: [{ id: 'call_map', name: 'city__map', args: { city: 'Bern' } }] },
  { text: LAST_WORD, calls: [] },
];

/** What a model was answered, by the ids of its calls, in the order in which it came. */
export interface Told {
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
  readonly images: number;
}

/** What a client did that its provider would refuse. */
export class Refused extends Error {}

/**
 * The next turn. `turns`: those of the model that the client sent back; each was answered wholly. `images`: how many the answer
 * to a call can hold here.
 */
export function nextTurn(
  turns: readonly (readonly string[])[],
  told: readonly Told[],
  images: 0 | 1 = 1,
): Turn {
  const asked = SCRIPT.slice(0, turns.length).map(({ calls }) => calls.map(({ id }) => id));
  same('the calls that the model made', turns, asked);
  same(
    'the answers to them',
    told.map(({ id }) => id),
    asked.flat(),
  );
  const turn = SCRIPT[turns.length];
  if (turn === undefined) throw new Refused('the conversation is over');
  for (const { id, text, isError, images: shown } of told) {
    const expected = EXPECTED[id];
    if (isError) throw new Refused(`${id} failed: ${text}`);
    if (id === 'call_map') same('the images of call_map', shown, images);
    if (expected === undefined || !expected.test(text)) throw new Refused(`${id} was answered with ${text}`);
  }
  return turn;
}

const EXPECTED: Readonly<Record<string, RegExp>> = {
  call_weather: /sunny/,
  call_transfer: /"?sent"?\s*:\s*true/i,
  call_map: /A map of Bern\./,
};

export function same(what: string, found: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Refused(`${what}: expected ${other}, found ${one}`);
}

/** Members of an object, none of which its provider does not know. */
export function members(value: unknown, at: string, known: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refused(`${at} is no object: ${JSON.stringify(value)}`);
  const stray = Object.keys(value).filter((name) => !known.split(' ').includes(name));
  if (stray.length > 0) throw new Refused(`${at}: unknown ${stray.join(', ')}`);
  return value as Readonly<Record<string, unknown>>;
}

export function listOf(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Refused(`${at} is no list: ${JSON.stringify(value)}`);
  return value;
}

export function textOf(value: unknown, at: string): string {
  if (typeof value !== 'string' || value === '')
    throw new Refused(`${at} is no text: ${JSON.stringify(value)}`);
  return value;
}

/** Pieces of a text, as a stream of tokens has them. */
export function pieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,7}/g) ?? [];
}
