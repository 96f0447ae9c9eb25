// The twins of TrustedDefinitions: in memory, and in a file that is written whole or not at all.
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFileTrustedDefinitions } from '../../../src/infra/definitions/file-trusted-definitions.ts';
import { MemoryTrustedDefinitions } from '../../../src/infra/definitions/memory-trusted-definitions.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { RecordingLog, RecordingMetrics } from '../../helpers/python-ports.ts';
import { removeDir, tempDir } from '../../helpers/temp-tools.ts';
import { describeTrustedDefinitions } from './trusted-definitions.suite.ts';

const deps = () => ({ clock: new FakeClock(), log: new RecordingLog(), metrics: new RecordingMetrics() });

describeTrustedDefinitions('memory', async () => ({ trusted: new MemoryTrustedDefinitions(deps()) }));

describeTrustedDefinitions('file', async () => {
  const dir = tempDir();
  const open = () => openFileTrustedDefinitions(join(dir, 'data', 'pins.json'), deps());
  return { trusted: await open(), reopened: open, close: async () => removeDir(dir) };
});

describe('the file', () => {
  let dir: string;
  let path: string;

  beforeEach(() => {
    dir = tempDir();
    path = join(dir, 'pins.json');
  });

  afterEach(() => {
    chmodSync(dir, 0o700);
    removeDir(dir);
  });

  const definition = { name: 'a', inputSchema: { type: 'object' } };
  const listing = {
    server: 'files',
    definitions: [{ tool: 'files.a', remoteName: 'a', seen: { hash: 'a'.repeat(64), definition } }],
    pinFirst: true,
  };

  it('is the owner’s alone, and is not written again where nothing changed', async () => {
    const trusted = await openFileTrustedDefinitions(path, deps());
    await trusted.record(listing);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { ino } = statSync(path);
    await trusted.record(listing);
    expect(statSync(path).ino).toBe(ino);
    expect(existsSync(`${path}.new`)).toBe(false);
  });

  it.each([
    '',
    '{',
    '[]',
    '{"version":2,"servers":[]}',
    '{"version":1,"servers":[{"server":"files","records":[{}]}]}',
  ])('that is broken (%j) keeps the gateway from starting: nothing is agreed to anew', async (content) => {
    writeFileSync(path, content);
    await expect(openFileTrustedDefinitions(path, deps())).rejects.toThrow('bring back a copy');
    expect(readFileSync(path, 'utf8')).toBe(content);
  });

  it('that cannot be written means that nothing is agreed to', async () => {
    const trusted = await openFileTrustedDefinitions(join(dir, 'blocked', 'pins.json'), deps());
    writeFileSync(join(dir, 'blocked'), 'a file where the folder should be');
    await expect(trusted.record(listing)).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'PINS_UNAVAILABLE',
    });
    expect(await trusted.of('files')).toBeUndefined();
  });

  it('half of one, left by a process that died, is no hindrance', async () => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(`${path}.new`, '{"version":1,"serv');
    const trusted = await openFileTrustedDefinitions(path, deps());
    await trusted.record(listing);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      version: 1,
      servers: [{ server: 'files' }],
    });
  });
});
