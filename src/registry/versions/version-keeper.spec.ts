// VersionKeeper: what was in force is recorded as soon as the store takes it, once, and found meanwhile.
import { beforeEach, describe, expect, it } from 'vitest';
import { recordingLog, specOf } from '../../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import type { NewToolVersion, SpecStore, ToolVersion } from '../../ports/registry/spec-store.ts';
import type { CheckedTool } from '../spec-rules.ts';
import { VersionKeeper } from './version-keeper.ts';

let clock: FakeClock;
let recorded: NewToolVersion[];
let isAway: boolean;
let keeper: VersionKeeper;

const hashOf = (edition: number) => edition.toString(16).padStart(64, '0');

function tool(edition: number, name = 'greet', foreign = false): CheckedTool {
  const metadata = { version: `${edition}.0.0` };
  const contentHash = hashOf(edition);
  const value = { name, edition };
  return {
    spec: specOf({
      name,
      contentHash,
      metadata,
      baseDir: '/tools',
      ...(foreign && { foreign: { server: 'elsewhere' } }),
    }),
    options: {},
    extensionOptions: {},
    declaration: { value, contentHash, baseDir: '/tools', locate: () => ({ file: '' }) },
  };
}

const found = async (matches: (version: NewToolVersion) => boolean): Promise<ToolVersion | undefined> => {
  if (isAway) throw new Error('away');
  const version = recorded.findLast(matches);
  return version && { ...version, createdAt: new Date(0) };
};

beforeEach(() => {
  clock = new FakeClock();
  recorded = [];
  isAway = false;
  const store: Pick<SpecStore, 'record' | 'version' | 'versionCalled'> = {
    async record(versions) {
      if (isAway) throw new Error('away');
      recorded.push(...versions);
    },
    version: (name, contentHash) => found((each) => each.name === name && each.contentHash === contentHash),
    versionCalled: (name, version) => found((each) => each.name === name && each.version === version),
  };
  keeper = new VersionKeeper({ store: store as SpecStore, clock, log: recordingLog() });
});

describe('VersionKeeper', () => {
  it('records each definition once, however often it is loaded, and none that others write', async () => {
    keeper.taken([tool(1), tool(1, 'other'), tool(1, 'remote', true)], []);
    await settled();
    keeper.taken([tool(1), tool(1, 'other')], []);
    await settled();
    expect(recorded.map(({ name }) => name)).toEqual(['greet', 'other']);
    expect(recorded[0]).toEqual({
      name: 'greet', contentHash: hashOf(1), version: '1.0.0', document: { name: 'greet', edition: 1 },
      source: 'loader', baseDir: '/tools', createdBy: '', note: '',
    }); // oxfmt-ignore
  });

  it('records what came while the store was away when it is back', async () => {
    isAway = true;
    keeper.taken([tool(1)], []);
    keeper.taken([tool(2)], [tool(1)]);
    await clock.advance(30_000);
    expect(recorded).toEqual([]);
    isAway = false;
    await clock.advance(10_000);
    expect(recorded.map(({ version }) => version)).toEqual(['1.0.0', '2.0.0']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('finds a superseded version while the store is away, and says that it cannot tell of others', async () => {
    isAway = true;
    keeper.taken([tool(2)], [tool(1)]);
    expect(await keeper.find('greet', hashOf(1))).toMatchObject({ document: { edition: 1 } });
    expect(await keeper.find('greet', '1.0.0')).toMatchObject({ document: { edition: 1 } });
    await expect(keeper.find('greet', hashOf(9))).rejects.toThrow('away');
    await expect(keeper.find('greet', '9.0.0')).rejects.toThrow('away');
  });

  it('remembers a bounded number of superseded versions', async () => {
    isAway = true;
    for (let edition = 1; edition <= 600; edition += 1) keeper.taken([tool(edition + 1)], [tool(edition)]);
    await expect(keeper.find('greet', hashOf(100))).rejects.toThrow('away');
    expect(await keeper.find('greet', hashOf(101))).toBeDefined();
    await keeper.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
