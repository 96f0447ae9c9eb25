// Envelope encryption: what is sealed for one place opens for no other, a changed character opens for nobody, old keys still read.
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { readSealed } from '../../lib/secrets/sealed-text.ts';
import { readKeyList } from '../../lib/secrets/key-list.ts';
import { EnvelopeSealer } from './envelope-sealer.ts';
import { EnvironmentKeys } from './environment-keys.ts';
import { FileKeys } from './file-keys.ts';

const KEY_A = `a:${Buffer.alloc(32, 1).toString('base64')}`;
const KEY_B = `b:${Buffer.alloc(32, 2).toString('base64')}`;
const PLACE = { tenantId: 'acme', agent: 'desk', tool: 'mail', field: 'api_key' };

const sealerOf = (list: string) => new EnvelopeSealer(new EnvironmentKeys(list));
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'opened',
    (error: { reason?: string }) => error.reason,
  );

describe('EnvelopeSealer', () => {
  it('gives back any text, under a new key and nonce each time', async () => {
    const sealer = sealerOf(KEY_A);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
        const sealed = await sealer.seal(text, PLACE);
        expect(sealed).toMatch(/^v1\.a(\.[A-Za-z0-9_-]*){4}$/);
        expect(await sealer.open(sealed, PLACE)).toBe(text);
      }),
      { numRuns: 50 },
    );
    const [one, two] = [readSealed(await sealer.seal('x', PLACE)), readSealed(await sealer.seal('x', PLACE))];
    expect(one?.wrapped).not.toEqual(two?.wrapped);
    expect(one?.nonce).not.toEqual(two?.nonce);
    expect([one?.nonce.length, one?.tag.length]).toEqual([12, 16]);
  });

  it('opens for no other tenant, agent, tool or field, however the names are cut', async () => {
    const sealer = sealerOf(KEY_A);
    const name = fc.string({ unit: fc.constantFrom('a', '|', '%', '7', 'C', '.', 'é'), maxLength: 4 });
    const place = fc.record({ tenantId: name, agent: name, tool: name, field: name });
    await fc.assert(
      fc.asyncProperty(place, place, async (one, other) => {
        const sealed = await sealer.seal('secret', one);
        const isSame = JSON.stringify(Object.values(one)) === JSON.stringify(Object.values(other));
        expect(await reasonOf(sealer.open(sealed, other))).toBe(isSame ? 'opened' : 'SECRET_UNREADABLE');
      }),
    );
  });

  it('opens for nobody once any character of it was changed, or cut off', async () => {
    const sealer = sealerOf(KEY_A);
    const sealed = await sealer.seal('a secret', PLACE);
    const expected = readSealed(sealed);
    await fc.assert(
      fc.asyncProperty(fc.nat(sealed.length - 1), fc.constantFrom('A', 'B', '.', ' ', ''), async (at, to) => {
        const changed = sealed.slice(0, at) + to + sealed.slice(at + 1);
        // The last character of a part has bits that stand for nothing.
        if (JSON.stringify(readSealed(changed)) === JSON.stringify(expected)) return;
        expect(['SECRET_UNREADABLE', 'SECRETS_KEY_MISSING']).toContain(
          await reasonOf(sealer.open(changed, PLACE)),
        );
      }),
    );
    const short = [expected?.wrapped, expected?.nonce, expected?.ciphertext, expected?.tag.subarray(0, 4)];
    const text = ['v1', 'a', ...short.map((part) => part?.toString('base64url'))].join('.');
    expect(await reasonOf(sealer.open(text, PLACE))).toBe('SECRET_UNREADABLE');
  });

  it('reads what an older key has wrapped, wraps it anew on demand, and says which key is missing', async () => {
    const old = await sealerOf(KEY_A).seal('a secret', PLACE);
    const both = sealerOf(`${KEY_B}, ${KEY_A}`);
    expect(await both.open(old, PLACE)).toBe('a secret');
    const rewrapped = (await both.rewrap(old, PLACE)) ?? '';
    expect(rewrapped).toMatch(/^v1\.b\./);
    expect(await both.rewrap(rewrapped, PLACE)).toBeUndefined();
    expect(await sealerOf(KEY_B).open(rewrapped, PLACE)).toBe('a secret');
    await expect(sealerOf(KEY_B).open(old, PLACE)).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'SECRETS_KEY_MISSING',
      details: { key_id: 'a' },
    });
  });

  it('a key of the same id that is another key opens nothing', async () => {
    const sealed = await sealerOf(KEY_A).seal('x', PLACE);
    const other = sealerOf(`a:${Buffer.alloc(32, 9).toString('base64')}`);
    expect(await reasonOf(other.open(sealed, PLACE))).toBe('SECRET_UNREADABLE');
  });
});

describe('the list of UTE_SECRETS_KEYS', () => {
  it.each([
    ['nothing', ''],
    ['no id', Buffer.alloc(32).toString('base64')],
    ['a short key', `a:${Buffer.alloc(16).toString('base64')}`],
    ['no base64', `a:${'!'.repeat(44)}`],
    ['a dot in an id', KEY_A.replace('a:', 'a.b:')],
    ['one id twice', `${KEY_A},${KEY_A}`],
  ])('with %s is refused, and not repeated', (_what, list) => {
    const told = readKeyList(list);
    expect(told).toMatch(/^must be id:key/);
    const repeated = list.length > 20 && JSON.stringify(told).includes(list.slice(5, 20));
    expect(repeated).toBe(false);
  });

  it('is not rotated by the gateway', async () => {
    await expect(new EnvironmentKeys(KEY_A).rotate()).rejects.toMatchObject({ reason: 'KEYS_ELSEWHERE' });
  });
});

describe('FileKeys', () => {
  let dir: string;
  const clock = new FakeClock();
  beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'ute-secret-keys-'))));
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('makes the first key, for nobody else to read, and the same one is there at the next start', async () => {
    const sealed = await new EnvelopeSealer(new FileKeys(dir, clock)).seal('x', PLACE);
    const file = join(dir, 'secret-keys', 'k000001.key');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(dir, 'secret-keys')).mode & 0o077).toBe(0);
    expect(await new EnvelopeSealer(new FileKeys(dir, clock)).open(sealed, PLACE)).toBe('x');
    expect(readdirSync(join(dir, 'secret-keys'))).toEqual(['k000001.key']);
  });

  it('a rotation adds a key, and another process with the folder reads what it wraps', async () => {
    const [one, two] = [new FileKeys(dir, clock), new FileKeys(dir, clock)];
    const old = await new EnvelopeSealer(one).seal('old', PLACE);
    expect(await one.rotate()).toBe('k000002');
    const fresh = await new EnvelopeSealer(one).seal('new', PLACE);
    expect(fresh).toMatch(/^v1\.k000002\./);
    await clock.advance(1_000);
    expect(await new EnvelopeSealer(two).open(fresh, PLACE)).toBe('new');
    expect(await new EnvelopeSealer(two).open(old, PLACE)).toBe('old');
    expect(await two.keyIds()).toEqual(['k000002', 'k000001']);
    expect(await two.rotate()).toBe('k000003');
  });

  it('keeps its keys while the folder is away', async () => {
    const keys = new FileKeys(dir, clock);
    const sealed = await new EnvelopeSealer(keys).seal('x', PLACE);
    rmSync(join(dir, 'secret-keys'), { recursive: true });
    await clock.advance(5_000);
    expect(await new EnvelopeSealer(keys).open(sealed, PLACE)).toBe('x');
  });

  it('makes no key beside a file that holds none, and names it', async () => {
    const keys = new FileKeys(dir, clock);
    writeFileSync(join(dir, 'secret-keys', 'k000001.key'), 'short');
    await expect(keys.rotate()).rejects.toMatchObject({
      reason: 'SECRETS_KEY_MISSING',
      message: expect.stringMatching(/k000001\.key cannot be used/) as string,
    });
    expect(readdirSync(join(dir, 'secret-keys'))).toEqual(['k000001.key']);
  });

  it('does not start with a file that holds no key, and names it', () => {
    expect(new FileKeys(dir, clock).kind).toBe('file');
    writeFileSync(join(dir, 'secret-keys', 'k000001.key'), 'short');
    expect(() => new FileKeys(dir, clock)).toThrow(/k000001\.key cannot be used/);
  });
});
