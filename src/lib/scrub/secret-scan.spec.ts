// SecretScan and SecretStream against a naive search: nothing that it finds is missed, wherever texts are cut.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../concurrency/in-slices.ts';
import { callScrubber, secretScrubber, SECRET_MARK } from '../secrets/scrub-secrets.ts';
import { SecretAutomaton } from './automaton.ts';
import { formsOf } from './secret-forms.ts';
import { SecretScan, type CompiledSecrets, type Place } from './secret-scan.ts';
import { SecretStream } from './secret-stream.ts';

/** Few different characters: what looks like itself is what a search goes wrong with. */
const selfSimilar = fc.string({ unit: fc.constantFrom('a', 'b', '4', '1'), minLength: 4, maxLength: 12 });
const awkward = fc.string({
  unit: fc.constantFrom('a', '%', '4', '1', '\\', '"', 'u', '0', '&', ';', '+', ' ', '/', '\n', 'ü', '😀'),
  minLength: 4,
  maxLength: 12,
});
const secrets = fc.array(fc.oneof(selfSimilar, awkward), { minLength: 1, maxLength: 4 });

function compile(values: readonly string[]) {
  const forms = atOnce(formsOf(values));
  const compiled: CompiledSecrets = {
    plain: atOnce(SecretAutomaton.build(forms.plain)),
    unescaped: atOnce(SecretAutomaton.build(forms.unescaped)),
  };
  return { forms: [...forms.plain], compiled };
}

function naivePlaces(text: string, forms: readonly string[]): readonly Place[] {
  const found: Place[] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
      found.push({ start: at, end: at + form.length });
  }
  return found;
}

function scanned(text: string, compiled: CompiledSecrets, undoes: boolean): readonly Place[] {
  const scan = new SecretScan(compiled, undoes);
  scan.read(text);
  scan.finish();
  return scan.places;
}

/** Pieces of secrets and of their encodings, one after the other, and what may join them to something else. */
const cases = secrets.chain((values) => {
  const { forms, compiled } = compile(values);
  const part = fc
    .tuple(fc.constantFrom(...forms), fc.nat(20), fc.nat(20))
    .map(([form, from, length]) => form.slice(from, from + length));
  const piece = fc.oneof(
    fc.constantFrom(...forms),
    part,
    selfSimilar,
    awkward,
    fc.constantFrom('%', '\\', '%4', '&', '\\u00'),
  );
  return fc
    .array(piece, { maxLength: 8 })
    .map((pieces) => ({ text: pieces.join(''), pieces, forms, compiled }));
});

describe('SecretScan', () => {
  it('finds all that a naive search finds, and without escapes nothing else', () => {
    fc.assert(
      fc.property(cases, ({ text, forms, compiled }) => {
        const naive = naivePlaces(text, forms);
        for (const undoes of [false, true]) {
          const places = scanned(text, compiled, undoes);
          for (const { start, end } of naive)
            expect(places.some((place) => place.start <= start && end <= place.end)).toBe(true);
          expect(places).toEqual(places.toSorted((a, b) => a.start - b.start));
        }
        const covered = new Set(naive.flatMap(({ start, end }) => range(start, end)));
        const plain = scanned(text, compiled, false).flatMap(({ start, end }) => range(start, end));
        expect(plain.toSorted((a, b) => a - b)).toEqual([...covered].toSorted((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });

  it('finds a secret whose characters are each escaped in another way, or not at all', () => {
    const ways: readonly ((char: string) => string)[] = [
      String,
      (char) => Buffer.from(char).toString('hex').replace(/../g, '%$&'),
      (char) => Buffer.from(char).toString('hex').toUpperCase().replace(/../g, '%25$&'),
      (char) =>
        Array.from(char.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(
          '',
        ),
      (char) =>
        Array.from(char.split(''), (unit) => `\\\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(
          '',
        ),
      (char) => `&#${char.codePointAt(0)};`,
      (char) => `&#x${char.codePointAt(0)?.toString(16)};`,
      (char) => JSON.stringify(char).slice(1, -1),
    ];
    const secret = fc.string({
      unit: fc.constantFrom('k', 'Z', '7', '"', '/', '-', '.', 'ü'),
      minLength: 6,
      maxLength: 20,
    });
    fc.assert(
      fc.property(
        secret,
        fc.array(fc.nat(ways.length - 1), { minLength: 20, maxLength: 20 }),
        (value, chosen) => {
          const written = Array.from(value, (char, at) => ways[chosen[at] ?? 0]?.(char) ?? char).join('');
          expect(secretScrubber([value]).text(`<${written}>`)).toMatch(/^<\\*\[secret\]\\*>$/);
        },
      ),
    );
  });
});

describe('SecretStream', () => {
  it('gives the same however the text is cut into pieces, and holds back nothing at the end', () => {
    fc.assert(
      fc.property(
        cases,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        ({ text, compiled }, lengths) => {
          const whole = new SecretStream(compiled);
          const expected = whole.push(text) + whole.end();
          const stream = new SecretStream(compiled);
          let shown = '';
          for (let at = 0, turn = 0; at < text.length; turn += 1) {
            const length = lengths[turn % lengths.length] ?? 1;
            shown += stream.push(text.slice(at, at + length));
            at += length;
          }
          expect(shown + stream.end()).toBe(expected);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('shows a line at its end, with an ampersand in it or not', () => {
    const stream = secretScrubber(['hunter22']).stream();
    expect(stream.push('a && b\n')).toBe('a && b\n');
    expect(stream.push('hunter')).toBe('');
    expect(stream.push('22\n')).toBe(`${SECRET_MARK}\n`);
  });
});

describe('the scrubber', () => {
  it('takes tokens of any length, and finds them in every encoding', () => {
    const token = Array.from({ length: 7_000 }, (_, at) =>
      String.fromCharCode(33 + ((at * 7 + at / 94) % 94)),
    ).join('');
    const { text } = secretScrubber([token]);
    for (const form of [
      token,
      JSON.stringify(token),
      encodeURIComponent(token),
      Buffer.from(token).toString('hex'),
    ])
      expect(text(`x ${form} y`).length).toBeLessThan(40);
    for (const before of ['', 'a', 'ab'])
      expect(text(Buffer.from(before + token).toString('base64')).length).toBeLessThan(20);
  });

  it('never says a secret in an error of its own', async () => {
    const hostile = { length: 8, toString: () => 'hunter22' } as unknown as string;
    await expect(callScrubber([hostile])).rejects.toThrow(/^The secrets could not be prepared/);
    const error = await callScrubber([hostile]).catch((thrown: unknown) => thrown);
    expect(error).not.toHaveProperty('cause');
  });
});

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, at) => start + at);
}
