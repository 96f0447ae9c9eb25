// The first key: made once, shown once, kept as a hash for the owner's eyes.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { loadSettings } from '../../settings/load-settings.ts';
import { createApiKey } from '../../lib/secrets/api-key.ts';
import { ApiKeyAuthenticator } from './api-key-authenticator.ts';
import { keptKeys, makeFirstKey } from './first-key.ts';
import { firstKeyPath, keysInForce } from './keys-in-force.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-keys-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the first key', () => {
  it('is made the first time, printed, and never again', () => {
    const path = join(dir, 'data', 'inner', 'keys.json');
    const printed: string[] = [];
    makeFirstKey(path, (key) => printed.push(key));
    const made = keptKeys(path);
    makeFirstKey(path, (key) => printed.push(key));
    expect(printed).toHaveLength(1);
    expect(keptKeys(path)).toEqual(made);
    const authenticator = new ApiKeyAuthenticator(made, {}, new FakeClock());
    expect(authenticator.authenticate({ kind: 'bearer', token: printed[0] ?? '' }).roles).toEqual(['admin']);
    expect(authenticator.hasAdmin).toBe(true);
  });

  it('keeps no secret, in a file and a folder for the owner alone', () => {
    const dataDir = join(dir, 'data');
    const path = join(dataDir, 'keys.json');
    let key = '';
    makeFirstKey(path, (text) => (key = text));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(readFileSync(path, 'utf8')).not.toContain(key.slice(18, -9));
  });

  it.each([
    ['{}', 'it: Invalid input: expected array, received object'],
    ['not json', 'it is no JSON'],
    ['', 'it is no JSON'],
    ['[]', 'it: must hold at least one key'],
    ['[{"id": "short"}]', '0.id: must be the 8 characters after ute_live_'],
  ])('is not made over a file that holds %j, which is named with why it cannot be used', (text, why) => {
    const path = join(dir, 'keys.json');
    writeFileSync(path, text);
    makeFirstKey(path, () => expect.unreachable('a key was made'));
    expect(() => keptKeys(path)).toThrow(`${path} cannot be used: ${why}`);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

describe('the keys in force', () => {
  const NOW = Date.parse('2026-01-01T00:00:00Z');

  function settingsWith(keys: readonly object[]) {
    writeFileSync(join(dir, 'gateway.yaml'), stringify({ data_dir: join(dir, 'data'), auth: { keys } }));
    return loadSettings({ UTE_CONFIG: join(dir, 'gateway.yaml') }, dir);
  }

  function keyOf(role: string, more: object = {}) {
    const { id, secretHash } = createApiKey();
    return { id, secret_sha256: secretHash.toString('hex'), tenant: 'acme', roles: [role], ...more };
  }

  it('of a gateway with an administrator in gateway.yaml are those of gateway.yaml', () => {
    const settings = settingsWith([keyOf('agent'), keyOf('admin')]);
    makeFirstKey(join(dir, 'data', 'keys.json'), () => undefined);
    makeFirstKey(join(dir, 'data', 'admin-key.json'), () => undefined);
    expect(keysInForce(settings, NOW)).toEqual(settings.auth.keys);
  });

  it.each([
    ['none of gateway.yaml is', [keyOf('agent')]],
    ['the only one has expired', [keyOf('admin', { expires_at: '2025-01-01T00:00:00Z' })]],
  ])('hold an administrator that was made because %s, beside the others', (_why, keys) => {
    const settings = settingsWith(keys);
    // Made before auth.keys was set: that ended it.
    makeFirstKey(join(dir, 'data', 'keys.json'), () => undefined);
    expect(keysInForce(settings, NOW)).toEqual(settings.auth.keys);
    makeFirstKey(firstKeyPath(settings), () => undefined);
    const inForce = keysInForce(settings, NOW);
    expect(inForce).toHaveLength(2);
    expect(new ApiKeyAuthenticator(inForce, {}, new FakeClock(NOW)).hasAdmin).toBe(true);
  });

  it('of a gateway without any are the one that it made', () => {
    const settings = settingsWith([]);
    expect(keysInForce(settings, NOW)).toEqual([]);
    makeFirstKey(firstKeyPath(settings), () => undefined);
    expect(keysInForce(settings, NOW)).toEqual(keptKeys(join(dir, 'data', 'keys.json')));
  });
});
