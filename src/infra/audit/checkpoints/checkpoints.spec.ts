// The key of checkpoints and the file that they are kept in.
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordingLog } from '../../../../test/helpers/call-kit.ts';
import { keyIdOf } from '../../../lib/audit-chain/checkpoint.ts';
import { CheckpointFile } from './checkpoint-file.ts';
import { openSigningKey } from './signing-key.ts';

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'ute-checkpoints-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the key of checkpoints', () => {
  it('is made once, also where several start at the same time, and nobody else can read it', async () => {
    const path = join(dir, 'data', 'key');
    const opened = await Promise.all([1, 2, 3, 4].map(() => openSigningKey(path, true, recordingLog())));
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(dir, 'data')).toSorted()).toEqual(['key', 'key.pub']);
    expect(keyIdOf(createPublicKey(readFileSync(`${path}.pub`)))).toBe(opened[0]?.id);
  });

  it('that an operator names is never made, must be an Ed25519 key, and is told of where others can read it', async () => {
    const path = join(dir, 'key');
    const log = recordingLog();
    await expect(openSigningKey(path, false, log)).rejects.toThrow(/cannot be read.*ENOENT/);
    const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(path, rsa.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    await expect(openSigningKey(path, false, log)).rejects.toThrow(
      /must be a private Ed25519 key, found rsa/,
    );
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await openSigningKey(path, false, log);
    expect(log.lines).toEqual([]);
    chmodSync(path, 0o644);
    await openSigningKey(path, false, log);
    expect(log.lines).toMatchObject([{ level: 'warn' }]);
    expect(readdirSync(dir)).toEqual(['key']);
  });
});

it('a line that a crash cut short is taken away before the next one is written', async () => {
  const path = join(dir, 'checkpoints.jsonl');
  await new CheckpointFile(path).append(['{"one":1}\n', '{"two":2}\n']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(path, '{"thr', { flag: 'a' });
  const file = new CheckpointFile(path);
  await file.append(['{"three":3}\n']);
  await file.append(['{"four":4}\n']);
  expect(readFileSync(path, 'utf8')).toBe('{"one":1}\n{"two":2}\n{"three":3}\n{"four":4}\n');
});
