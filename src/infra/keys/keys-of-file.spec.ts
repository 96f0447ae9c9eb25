// KeysOfFile: a key that is taken out of the file is refused within seconds, and nothing is switched off in silence.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, expect, describe, it } from 'vitest';
import { stringify } from 'yaml';
import { recordingLog } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { createApiKey } from '../../lib/secrets/api-key.ts';
import { loadSettings } from '../../settings/load-settings.ts';
import { ApiKeyAuthenticator } from './api-key-authenticator.ts';
import { makeFirstKey } from './first-key.ts';
import { firstKeyPath, keysInForce } from './keys-in-force.ts';
import { KeysOfFile } from './keys-of-file.ts';
import { WatchedSettings } from '../settings-file/watched-settings.ts';

function keyOf(tenant = 'acme') {
  const { text, id, secretHash } = createApiKey();
  return { text, stored: { id, secret_sha256: secretHash.toString('hex'), tenant, roles: ['agent'] } };
}

function setUp(first: readonly object[], more: Readonly<Record<string, unknown>> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'ute-key-reload-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'gateway.yaml');
  const write = (keys: readonly object[], others: Readonly<Record<string, unknown>> = more) =>
    writeFileSync(file, stringify({ data_dir: join(dir, 'data'), auth: { keys }, ...others }));
  write(first);
  const read = (text?: string) => loadSettings({ UTE_CONFIG: file }, dir, text);
  const settings = read();
  const clock = new FakeClock();
  const log = recordingLog();
  let firstKey = '';
  if (first.length === 0) makeFirstKey(firstKeyPath(settings), (text) => (firstKey = text));
  const keys = keysInForce(settings, clock.wall());
  const authenticator = new ApiKeyAuthenticator(keys, settings.auth.roles, clock);
  const reload = new WatchedSettings({ file, read, clock, log });
  reload.listen(new KeysOfFile({ settings, authenticator, clock, log }));
  onTestFinished(() => reload.stop());
  const lets = (text: string) => {
    try {
      return authenticator.authenticate({ kind: 'bearer', token: text }).id !== '';
    } catch {
      return false;
    }
  };
  return { file, write, reload, authenticator, clock, log, lets, firstKey };
}

describe('KeysOfFile', () => {
  it('lets in who was added and no more who was removed, seen before or not', async () => {
    const [stays, goes, comes] = [keyOf(), keyOf(), keyOf()];
    const { write, reload, authenticator, lets } = setUp([stays.stored, goes.stored]);
    await reload.check();
    expect([stays, goes, comes].map(({ text }) => lets(text))).toEqual([true, true, false]);
    write([stays.stored, comes.stored]);
    await reload.check();
    expect([stays, goes, comes].map(({ text }) => lets(text))).toEqual([true, false, true]);
    // Calls that it left behind do not run either.
    expect(() =>
      authenticator.recall({ principalId: goes.stored.id, tenantId: 'acme', permissions: [] }),
    ).toThrow(/not valid any more/);
  });

  it('looks by itself, and a key that was removed is refused within five seconds', async () => {
    const [stays, goes] = [keyOf(), keyOf()];
    const { write, reload, clock, lets } = setUp([stays.stored, goes.stored]);
    // A look is over when the next one is due.
    const looked = () => expect.poll(() => clock.pendingTimers).toBe(1);
    reload.start();
    await looked();
    for (let round = 0; round < 3; round += 1) {
      const goesNow = keyOf();
      write([stays.stored, goesNow.stored]);
      await reload.check();
      expect(lets(goesNow.text)).toBe(true);
      write([stays.stored]);
      const removedAt = clock.now();
      while (lets(goesNow.text)) {
        await clock.advance(100);
        await looked();
        expect(clock.now() - removedAt).toBeLessThanOrEqual(5_000);
      }
    }
    expect([stays, goes].map(({ text }) => lets(text))).toEqual([true, false]);
  });

  it('keeps the keys of before while the file cannot be used, and says so', async () => {
    const key = keyOf();
    const { file, write, reload, log, lets } = setUp([key.stored]);
    writeFileSync(file, 'auth: { keys: [');
    await reload.check();
    expect(lets(key.text)).toBe(true);
    expect(JSON.stringify(log.lines)).toContain('cannot be used as it is now');
    write([]);
    await reload.check();
    expect(lets(key.text)).toBe(false);
    expect(JSON.stringify(log.lines)).toContain('no API key of gateway.yaml is left');
  });

  it.each([
    ['a setting that is wrong', { limits: { max_parallel_calls: -1 } }],
    ['a setting that is not there', { limitz: {} }],
    ['a loader that is none', { loaders: ['yaml-file'] }],
    ['a contradiction', { http: { port: 7001 }, grpc: { port: 7001 } }],
  ])('refuses a key that was taken out of a file that has %s', async (_what, mistake) => {
    const [stays, goes] = [keyOf(), keyOf()];
    const { write, reload, log, lets } = setUp([stays.stored, goes.stored]);
    await reload.check();
    write([stays.stored], mistake);
    await reload.check();
    expect([stays, goes].map(({ text }) => lets(text))).toEqual([true, false]);
    expect(JSON.stringify(log.lines)).toContain('its keys and roles are in force');
  });

  it.each([
    ['keys that lost their section', (keys: string) => `keys: ${keys}\n`],
    ['a section without keys', () => 'auth: { roles: {} }\nlimitz: {}\n'],
    ['roles that fell out of their section', (keys: string) => `auth: { keys: ${keys} }\nroles: {}\n`],
    ['a mistake in auth itself', (keys: string) => `auth: { keys: ${keys}, mode: some }\n`],
  ])('keeps the keys of before where the file has %s', async (_what, textOf) => {
    const [stays, goes] = [keyOf(), keyOf()];
    const { file, reload, lets } = setUp([stays.stored, goes.stored]);
    await reload.check();
    writeFileSync(file, textOf(JSON.stringify([stays.stored])));
    await reload.check();
    expect([stays, goes].map(({ text }) => lets(text))).toEqual([true, true]);
  });

  it('says nothing of keys that are not left where an issuer or certificates let callers in', async () => {
    const key = keyOf();
    const { write, reload, log, lets } = setUp([key.stored]);
    const issuer = { issuer: 'https://login.example.com', audience: 'x', tenants: ['acme'] };
    write([], { auth: { keys: [], issuers: [issuer] } });
    await reload.check();
    expect(lets(key.text)).toBe(false);
    expect(JSON.stringify(log.lines)).not.toContain('is left');
  });

  it('keeps the keys of before while the file is empty, as one is that is being written', async () => {
    const key = keyOf();
    const { file, write, reload, log, lets } = setUp([key.stored]);
    await reload.check();
    for (const text of ['', '\n']) {
      writeFileSync(file, text);
      await reload.check();
      expect(lets(key.text)).toBe(true);
      expect(JSON.stringify(log.lines)).toContain('cannot be used as it is now');
    }
    write([]);
    await reload.check();
    expect(lets(key.text)).toBe(false);
  });

  it('says that the first key is refused once auth.keys is set', async () => {
    const { write, reload, log } = setUp([]);
    await reload.check();
    expect(JSON.stringify(log.lines)).not.toContain('is refused');
    write([keyOf().stored]);
    await reload.check();
    expect(JSON.stringify(log.lines)).toMatch(/auth\.keys is set, so the first key.*is refused: to keep it/);
  });

  it('leaves the first key what it may do, and does not tell of it as if it were new', async () => {
    const { reload, authenticator, log, firstKey } = setUp([]);
    const held = () => authenticator.authenticate({ kind: 'bearer', token: firstKey }).permissions;
    const before = held();
    await reload.check();
    expect(held()).toEqual(before);
    expect(held()).toContain('platform:*');
    expect(log.lines).toEqual([]);
  });

  it('says that the rest of the file waits for a restart', async () => {
    const key = keyOf();
    const { write, reload, log } = setUp([key.stored]);
    await reload.check();
    write([key.stored], { limits: { max_parallel_calls: 3 } });
    await reload.check();
    expect(JSON.stringify(log.lines)).toContain('restart the gateway');
  });
});
