// The postgres loader: what it brings, when it looks again, and what it does while the database is away.
import { beforeEach, describe, expect, it } from 'vitest';
import { recordingLog } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Loader } from '../../contract/plugin.ts';
import { SourceAway } from '../../contract/tool/source-away.ts';
import type { ToolHead } from '../../ports/registry/spec-store.ts';
import { postgresLoader } from './index.ts';
import { optionsSchema } from './options.ts';

let clock: FakeClock;
let log: ReturnType<typeof recordingLog>;
let heads: ToolHead[];
let isAway: boolean;
let looks: number;

const unavailable = () => new ToolFailure('UNAVAILABLE', 'away', { cause: new Error('ECONNREFUSED') });
const generationOf = () => heads.reduce((sum, { revision }) => sum + revision, 0);
const specs = {
  async generation() {
    looks += 1;
    if (isAway) throw unavailable();
    return generationOf();
  },
  async heads() {
    if (isAway) throw unavailable();
    return { generation: generationOf(), heads };
  },
};

function head(name: string, over: Partial<ToolHead> = {}): ToolHead {
  const document = { name, description: 'x', tool_type: 'http' };
  const who = { updatedBy: 'key1', updatedAt: new Date(0), note: '' };
  return {
    name,
    contentHash: `hash of ${name}`,
    version: '1.0.0',
    document,
    enabled: true,
    revision: 1,
    ...who,
    ...over,
  };
}

function opened(options: object = {}): Loader {
  return postgresLoader.create({ specs, clock, log, configDir: '/config' })(optionsSchema.parse(options));
}

const loadOf = (loader: Loader) => loader.load(new AbortController().signal);

beforeEach(() => {
  clock = new FakeClock();
  log = recordingLog();
  heads = [head('one'), head('off', { enabled: false })];
  [isAway, looks] = [false, 0];
});

describe('a load', () => {
  it('brings the heads that are switched on, each with its place', async () => {
    const { tools, connections, problems } = await loadOf(opened());
    expect(problems).toEqual([]);
    expect(connections).toEqual([]);
    expect(tools.map(({ value }) => value)).toEqual([heads[0]?.document]);
    expect(tools[0]?.baseDir).toBe('/config');
    expect(tools[0]?.locate(['description'])).toEqual({ file: 'database:one' });
  });

  it('gives an unchanged version the same declaration, and a changed one another', async () => {
    const loader = opened();
    const [before] = (await loadOf(loader)).tools;
    expect((await loadOf(loader)).tools[0]).toBe(before);
    heads = [head('one', { contentHash: 'other', document: { name: 'one', description: 'y' } })];
    expect((await loadOf(loader)).tools[0]?.contentHash).not.toBe(before?.contentHash);
  });

  it('refuses what its entry of gateway.yaml does not allow, with the tool and the path', async () => {
    const document = {
      name: 'one',
      tool_type: 'shell',
      implementation_config: { connection: 'mail', allow_private: ['10.0.0.0/8'] },
    };
    heads = [head('one', { document }), head('two')];
    const { problems } = await loadOf(opened({ max_tools: 1 }));
    expect(problems.map(({ file, tool, path }) => [file, tool, path])).toEqual([
      ['database', undefined, undefined],
      ['database:one', 'one', 'tool_type'],
      ['database:one', 'one', 'implementation_config.connection'],
      ['database:one', 'one', 'implementation_config.allow_private'],
    ]);
    const open = await loadOf(opened({ tool_types: ['shell', 'http'], connections: ['*'] }));
    expect(open.problems.map(({ path }) => path)).toEqual(['implementation_config.allow_private']);
  });
});

describe('a draft', () => {
  it('stands in place of its namesake, over the newest state', async () => {
    const loader = opened();
    heads.push(head('two'));
    const draft = await loader.draft?.({ name: 'two', description: 'new', tool_type: 'http' });
    expect(draft?.generation).toBe(3);
    expect(draft?.loaded.tools).toHaveLength(2);
    expect(draft?.loaded.tools).toContain(draft?.declaration);
    expect(draft?.declaration.value).toMatchObject({ description: 'new' });
  });
});

describe('watching', () => {
  async function watched(loader: Loader, task: (changes: () => number) => Promise<void>): Promise<void> {
    const ending = new AbortController();
    let changes = 0;
    const watching = loader.watch?.(() => (changes += 1), ending.signal);
    await task(() => changes);
    ending.abort();
    await watching;
    expect(clock.pendingTimers).toBe(0);
  }

  it('looks every few seconds, a little earlier each time, and tells of a change once', async () => {
    const loader = opened();
    await loadOf(loader);
    await watched(loader, async (changes) => {
      await clock.advance(50_000);
      expect(changes()).toBe(0);
      expect(looks).toBeGreaterThanOrEqual(10);
      expect(looks).toBeLessThanOrEqual(13);
      heads = [head('one', { revision: 2 }), head('off', { enabled: false })];
      await clock.advance(5_000);
      expect(changes()).toBe(1);
      await clock.advance(20_000);
      expect(changes()).toBe(1);
    });
  });

  it('tells once that the database is away, and once that it is back', async () => {
    const loader = opened();
    await loadOf(loader);
    isAway = true;
    await watched(loader, async (changes) => {
      await clock.advance(5_000);
      expect(changes()).toBe(1);
      await expect(loadOf(loader)).rejects.toBeInstanceOf(SourceAway);
      await clock.advance(30_000);
      expect(changes()).toBe(1);
      isAway = false;
      await clock.advance(5_000);
      expect(changes()).toBe(2);
    });
  });
});

it('a database that is away is a source that is away, and its error is for the log alone', async () => {
  isAway = true;
  const error: unknown = await loadOf(opened()).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SourceAway);
  expect(error).toMatchObject({ message: 'cannot be reached', cause: { message: 'ECONNREFUSED' } });
});
