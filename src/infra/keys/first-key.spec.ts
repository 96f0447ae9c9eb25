// The first key: made once, shown once, kept as a hash for the owner's eyes.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { ApiKeyAuthenticator } from './api-key-authenticator.ts';
import { dataDirKeys } from './first-key.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-keys-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('dataDirKeys', () => {
  it('makes a key the first time, prints it, and never again', () => {
    const dataDir = join(dir, 'data', 'inner');
    const printed: string[] = [];
    const made = dataDirKeys(dataDir, (key) => printed.push(key));
    const kept = dataDirKeys(dataDir, (key) => printed.push(key));
    expect(printed).toHaveLength(1);
    expect(kept).toEqual(made);
    const authenticator = new ApiKeyAuthenticator(kept, {}, new FakeClock());
    expect(authenticator.authenticate({ kind: 'bearer', token: printed[0] ?? '' }).roles).toEqual(['admin']);
  });

  it('keeps no secret, in a file and a folder for the owner alone', () => {
    const dataDir = join(dir, 'data');
    let key = '';
    dataDirKeys(dataDir, (text) => (key = text));
    expect(statSync(join(dataDir, 'keys.json')).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(dataDir, 'keys.json'), 'utf8')).not.toContain(key.slice(18, -9));
  });

  it.each([
    ['{}', 'it: Invalid input: expected array, received object'],
    ['not json', 'it is no JSON'],
    ['', 'it is no JSON'],
    ['[]', 'it: must hold at least one key'],
    ['[{"id": "short"}]', '0.id: must be the 8 characters after ute_live_'],
  ])('does not make a new key over a file that holds %j, and names the file and why', (text, why) => {
    writeFileSync(join(dir, 'keys.json'), text);
    const made = () => dataDirKeys(dir, () => expect.unreachable('a key was made'));
    expect(made).toThrow(`${join(dir, 'keys.json')} cannot be used: ${why}`);
    expect(readFileSync(join(dir, 'keys.json'), 'utf8')).toBe(text);
  });
});
