// RegistrySync: a load is taken whole or not at all, and what did not change is not built again.
import { z } from 'zod';
import { beforeEach, describe, expect, it } from 'vitest';
import { recordingLog, recordingMetrics, looksOnly, compiledOf } from '../../../test/helpers/call-kit.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import { SourceAway } from '../../contract/tool/source-away.ts';
import type { LoadedTools, Problem, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { ToolCompiler } from '../../contract/tool/compiled-tool.ts';
import type { Executor, ExecutorPlugin, Loader } from '../../contract/plugin.ts';
import { LoadError, RegistrySync } from './registry-sync.ts';
import { ToolSpecRegistry } from '../tool-spec-registry.ts';

const FILE = '/tools/tools.yaml';
const SUCCESSFUL = 'ute_config_last_reload_successful';

function declared(name: string, edition = 1): RawDeclaration {
  const implementation = { edition };
  return {
    value: { name, description: `Does ${name}`, tool_type: 'fake', implementation_config: implementation },
    contentHash: `${name} ${edition}`,
    baseDir: '/tools',
    locate: () => ({ file: FILE, line: 7, column: 3 }),
  };
}

function loaded(tools: readonly RawDeclaration[], problems: readonly Problem[] = []): LoadedTools {
  return { tools, connections: [], problems };
}

/** An executor that writes down what it prepares and closes; edition 13 cannot be prepared. */
class FakeExecutor implements Executor<{ edition: number }> {
  readonly prepared: string[] = [];
  readonly closed: string[] = [];
  /** Names of functions whose handlers have changed on disk since they were prepared. */
  readonly stale = new Set<string>();
  readonly broken = new Set<string>();

  prepare({ function: fn, options }: Parameters<Executor<{ edition: number }>['prepare']>[0]) {
    const what = `${fn.name} ${options.edition}`;
    if (options.edition === 13 || this.broken.has(fn.name)) throw new Error('there is no edition 13');
    this.prepared.push(what);
    this.stale.delete(fn.name);
    const close = async () => void this.closed.push(what);
    return { execute: async () => ({ data: null }), close, isStale: () => this.stale.has(fn.name) };
  }
}

const fakePlugin: ExecutorPlugin<unknown, never> = {
  name: 'fake',
  summary: 'For tests.',
  optionsSchema: z.strictObject({ edition: z.number() }),
  create: () => new FakeExecutor(),
};

let executor: FakeExecutor;
let clock: FakeClock;
let log: ReturnType<typeof recordingLog>;
let registry: ToolSpecRegistry;
let metrics: ReturnType<typeof recordingMetrics>;

beforeEach(() => {
  executor = new FakeExecutor();
  clock = new FakeClock();
  log = recordingLog();
  registry = new ToolSpecRegistry();
  metrics = recordingMetrics();
});

function syncOf(loader: Loader, compiler: ToolCompiler = looksOnly, ...more: Loader[]): RegistrySync {
  return new RegistrySync({
    registry,
    metrics,
    loaders: [loader, ...more].map((each) => ({ type: 'fake', loader: each })),
    rules: { executors: new Map([['fake', fakePlugin]]), extensions: new Map() },
    executors: new Map([['fake', executor as Executor<unknown>]]),
    compiler,
    clock,
    log,
    degraded: metrics.gauge({ name: 'ute_degraded', help: '' }).with('tools'),
  });
}

/** A loader that brings what `set` holds at that time. */
function holding(first: LoadedTools, compiler?: ToolCompiler) {
  const source = { set: first };
  const loader: Loader = { load: async () => source.set };
  return { source, sync: syncOf(loader, compiler) };
}

const names = () => registry.snapshot().functions.map(({ name }) => name);

describe('the first load', () => {
  it('that is refused is an error with every problem: there is nothing to go on with', async () => {
    const { sync } = holding(loaded([declared('a', 13)], [{ file: FILE, line: 1, message: 'not YAML' }]));
    const error: unknown = await sync.start().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LoadError);
    expect((error as LoadError).problems).toEqual([{ file: FILE, line: 1, message: 'not YAML' }]);
    expect(names()).toEqual([]);
  });

  it('that is refused promises nobody that other tools stay in force', async () => {
    const { sync } = holding(loaded([], [{ file: FILE, line: 1, message: 'not YAML' }]));
    await expect(sync.start()).rejects.toBeInstanceOf(LoadError);
    const said = JSON.stringify(log.lines);
    expect(said).toContain('the gateway does not start');
    expect(said).not.toContain('stays in force');
  });

  it('a tool that cannot be prepared is told with its place', async () => {
    const { sync } = holding(loaded([declared('a', 13)]));
    const problem = {
      file: FILE,
      line: 7,
      column: 3,
      tool: 'a',
      path: 'implementation_config',
      message: 'there is no edition 13',
    };
    await expect(sync.start()).rejects.toMatchObject({ problems: [problem] });
  });

  it('what an extension finds wrong with a tool when it prepares is a problem of that tool, with its place', async () => {
    const { sync } = holding(loaded([declared('a'), declared('b')]), {
      ...looksOnly,
      compile(fn) {
        if (fn.name === 'b') throw new Error('business-hours: opens at 25:00');
        return compiledOf(fn);
      },
    });
    const problem = {
      file: FILE,
      line: 7,
      tool: 'b',
      path: 'extensions',
      message: 'business-hours: opens at 25:00',
    };
    await expect(sync.start()).rejects.toMatchObject({ problems: [problem] });
    expect(executor.closed.toSorted()).toEqual(['a 1', 'b 1']);
  });
});

describe('a reload', () => {
  it('of many tools gives everything else its turn while they are checked and built', async () => {
    const many = (edition: number) =>
      loaded(Array.from({ length: 3_000 }, (_, at) => declared(`tool_${at}`, edition)));
    const { source, sync } = holding(many(1));
    await sync.start();
    source.set = many(2);
    const done = new AbortController();
    let turns = 0;
    const reloading = sync.reload().finally(() => done.abort());
    for (; !done.signal.aborted; turns += 1) await new Promise(setImmediate);
    expect(await reloading).toMatchObject({ ok: true });
    expect(executor.prepared.filter((what) => what.endsWith(' 2'))).toHaveLength(3_000);
    expect(turns).toBeGreaterThan(4);
    await sync.stop();
  });

  it.each([
    ['with a problem of the loader', loaded([], [{ file: FILE, message: 'gone' }])],
    [
      'with a declaration that is wrong',
      loaded([declared('a'), { ...declared('b'), value: { name: 'b' }, contentHash: 'b?' }]),
    ],
    ['with a tool that cannot be prepared', loaded([declared('a', 2), declared('b', 13)])],
  ])('%s changes nothing and says so', async (_what, broken) => {
    const { source, sync } = holding(loaded([declared('a')]));
    await sync.start();
    const { version } = registry.snapshot();
    const before = registry.snapshot().find('a');
    source.set = broken;
    const status = await sync.reload();
    expect(status).toMatchObject({ ok: false, registryVersion: version, tools: 1 });
    expect(status.problems).not.toEqual([]);
    expect(registry.snapshot().find('a')).toBe(before);
    expect(metrics.values.get(SUCCESSFUL)).toBe(0);
    // Nothing of the old set is closed; what was prepared for the refused one is.
    expect(executor.closed).toEqual(executor.prepared.slice(1));

    source.set = loaded([declared('a'), declared('c')]);
    expect(await sync.reload()).toMatchObject({ ok: true, tools: 2, problems: [] });
    expect(metrics.values.get(SUCCESSFUL)).toBe(1);
  });

  it('a loader that throws is a problem, not a crash', async () => {
    const sets = [loaded([declared('a')])];
    const loader: Loader = {
      load: async () => {
        const next = sets.shift();
        if (next === undefined) throw new Error('disk on fire');
        return next;
      },
    };
    const sync = syncOf(loader);
    await sync.start();
    expect(await sync.reload()).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('disk on fire') }],
    });
    expect(names()).toEqual(['a']);
  });

  it('prepares only what changed, and keeps the rest as it is compiled', async () => {
    const { source, sync } = holding(loaded([declared('a'), declared('b')]));
    await sync.start();
    const kept = registry.snapshot().find('a');
    source.set = loaded([declared('c'), declared('b', 2), declared('a')]);
    await sync.reload();
    expect(executor.prepared).toEqual(['a 1', 'b 1', 'c 1', 'b 2']);
    expect(registry.snapshot().find('a')).toBe(kept);
    expect(kept).toBeDefined();
  });

  it('does not prepare a tool in quarantine, and prepares it when it is let out', async () => {
    const quarantine = { reason: 'TOOL_DEFINITION_CHANGED' as const, message: 'Changed.' };
    const held = { ...declared('a'), contentHash: 'held', foreign: { server: 'files', quarantine } };
    const { source, sync } = holding(loaded([held]));
    await sync.start();
    expect([names(), executor.prepared]).toEqual([['a'], []]);
    const { version } = registry.snapshot();
    source.set = loaded([{ ...declared('a'), contentHash: 'free', foreign: { server: 'files' } }]);
    await sync.reload();
    expect(executor.prepared).toEqual(['a 1']);
    expect(registry.snapshot().version).not.toBe(version);
    await sync.stop();
  });

  it('closes a replaced tool after the last call that began with it', async () => {
    const { source, sync } = holding(loaded([declared('a'), declared('b')]));
    await sync.start();
    const call = registry.enter();
    source.set = loaded([declared('a', 2), declared('b')]);
    await sync.reload();
    expect(executor.closed).toEqual([]);
    registry.leave(call);
    expect(executor.closed).toEqual(['a 1']);
  });

  it('asked for while one runs, another follows it: the newest state is always taken', async () => {
    const sets = [loaded([declared('a')]), loaded([declared('b')]), loaded([declared('c')])];
    const gates: (() => void)[] = [];
    let loads = 0;
    const loader: Loader = {
      load: () => {
        const set = sets[Math.min(loads++, sets.length - 1)] ?? loaded([]);
        return new Promise((done) => gates.push(() => done(set)));
      },
    };
    const sync = syncOf(loader);
    const first = sync.reload();
    const [second, third] = [sync.reload(), sync.reload()];
    expect(loads).toBe(1);
    gates.shift()?.();
    // Tools are checked in slices, so it is not said in how many turns of the loop.
    await eventually(() => loads === 2);
    gates.shift()?.();
    const statuses = await Promise.all([first, second, third]);
    expect(names()).toEqual(['b']);
    expect(new Set(statuses.map(({ registryVersion }) => registryVersion))).toEqual(
      new Set([registry.snapshot().version]),
    );
    expect(loads).toBe(2);
  });
});

it('watching begins after the first load, and ends with stop', async () => {
  let announce: (() => void) | undefined;
  let watching = false;
  const source = { set: loaded([declared('a')]) };
  const sync = syncOf({
    load: async () => source.set,
    watch: async (changed, signal) => {
      announce = changed;
      watching = true;
      await new Promise((done) => signal.addEventListener('abort', done));
      watching = false;
    },
  });
  await sync.start();
  source.set = loaded([declared('b')]);
  announce?.();
  await eventually(() => expect(names()).toEqual(['b']));
  await sync.stop();
  expect(watching).toBe(false);
});

it('stops within a second though a source never answers', async () => {
  let answers = true;
  const sync = syncOf({
    load: () => (answers ? Promise.resolve(loaded([declared('a')])) : new Promise<never>(() => undefined)),
  });
  await sync.start();
  answers = false;
  void sync.reload();
  await settled();
  const stopped = sync.stop();
  await clock.advance(1_000);
  await stopped;
  expect(names()).toEqual(['a']);
});

describe('a handler that changed on disk, with its declaration as it was', () => {
  const refusals = () => log.lines.filter(({ level }) => level === 'error').length;

  it('is prepared anew at a reload, and nothing else is', async () => {
    const { sync } = holding(loaded([declared('a'), declared('b')]));
    await sync.start();
    const kept = registry.snapshot().find('b');
    executor.stale.add('a');
    await sync.reload();
    expect(executor.prepared).toEqual(['a 1', 'b 1', 'a 1']);
    expect(executor.closed).toEqual(['a 1']);
    expect(registry.snapshot().find('b')).toBe(kept);
    await sync.stop();
  });

  it('is noticed without anyone asking', async () => {
    const { sync } = holding(loaded([declared('a'), declared('b')]));
    await sync.start();
    await clock.advance(10_000);
    expect(executor.prepared).toHaveLength(2);
    executor.stale.add('b');
    await clock.advance(3_000);
    // What is built is built in slices of real time: on a busy machine it goes on after the turn that began it.
    await eventually(() => expect(executor.prepared).toEqual(['a 1', 'b 1', 'b 1']));
    await sync.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('and is broken leaves the old one in force, says so once, and is taken as soon as it is mended', async () => {
    const { sync } = holding(loaded([declared('a'), declared('b')]));
    await sync.start();
    const before = registry.snapshot().find('a');
    executor.stale.add('a');
    executor.broken.add('a');
    await clock.advance(10_000);
    await eventually(() => expect([sync.status().ok, refusals()]).toEqual([false, 1]));
    // The next look finds it again, and says nothing new.
    await sync.reload();
    expect([sync.status().ok, refusals()]).toEqual([false, 1]);
    expect(registry.snapshot().find('a')).toBe(before);
    expect(executor.closed).toEqual([]);
    executor.broken.delete('a');
    await clock.advance(3_000);
    await eventually(() => expect(sync.status().ok).toBe(true));
    expect(registry.snapshot().find('a')).not.toBe(before);
    await sync.stop();
  });

  it('whose executor cannot tell is kept', async () => {
    const { sync } = holding(loaded([declared('a')]));
    await sync.start();
    Object.defineProperty(executor.stale, 'has', {
      value: () => {
        throw new Error('no such disk');
      },
    });
    expect(await sync.reload()).toMatchObject({ ok: true });
    expect(executor.prepared).toEqual(['a 1']);
    await sync.stop();
  });
});

describe('a dispensable tool', () => {
  const dispensable = (name: string, edition?: number): RawDeclaration => ({
    ...declared(name, edition),
    dispensable: true,
  });
  const misfit: RawDeclaration = {
    ...dispensable('misfit'),
    value: { name: 'misfit', description: 'Does not fit', tool_type: 'fake' },
  };

  it.each([
    ['does not fit', () => misfit, 'is required'],
    ['cannot be prepared', () => dispensable('misfit', 13), 'there is no edition 13'],
    ['has the name of another, which comes later', () => dispensable('a', 2), 'is taken already'],
  ])('that %s is left out with its problem, and the rest is in force', async (_what, wrong, message) => {
    const { sync } = holding(loaded([wrong(), dispensable('good'), declared('a')]));
    const status = await sync.reload();
    expect(status).toMatchObject({ ok: true, tools: 2, problems: [], warnings: [] });
    expect(status.leftOut[0]?.message).toContain(message);
    expect(names().toSorted()).toEqual(['a', 'good']);
    expect(executor.prepared).toContain('a 1');
    await sync.reload();
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    await sync.stop();
  });

  it('that is mended comes into force, and one that is spoilt goes', async () => {
    const { source, sync } = holding(loaded([declared('a'), dispensable('b', 13)]));
    await sync.reload();
    source.set = loaded([declared('a'), dispensable('b', 2)]);
    expect(await sync.reload()).toMatchObject({ ok: true, leftOut: [] });
    expect(names()).toEqual(['a', 'b']);
    source.set = loaded([declared('a'), dispensable('b', 13)]);
    expect(await sync.reload()).toMatchObject({ ok: true, leftOut: [{ tool: 'b' }] });
    expect(names()).toEqual(['a']);
    expect(executor.closed).toEqual(['b 2']);
    await sync.stop();
  });
});

describe('what a loader is told, and tells', () => {
  it('that its set is in force, and only then', async () => {
    let taken = 0;
    const source = { set: loaded([declared('a')]) };
    const sync = syncOf({ load: async () => source.set, taken: () => (taken += 1) });
    await sync.start();
    expect(taken).toBe(1);
    source.set = loaded([declared('a', 13)]);
    await sync.reload();
    expect(taken).toBe(1);
    await sync.stop();
  });

  it('a source that is away refuses nothing: its last tools stay, and the status and the gauge say so until it is back', async () => {
    let why: string | undefined;
    const sync = syncOf({
      source: 'https://tools.example/t.yaml',
      load: async () => {
        if (why !== undefined) throw new SourceAway(why);
        return loaded([declared('a')]);
      },
    });
    await sync.start();
    const kept = registry.snapshot().find('a');
    why = 'was answered with HTTP 503';
    expect(await sync.reload()).toMatchObject({
      ok: true,
      tools: 1,
      warnings: [
        {
          file: 'https://tools.example/t.yaml',
          message: expect.stringMatching(/^was answered with HTTP 503; what it gave at \S+Z stays in force$/),
        },
      ],
    });
    expect(registry.snapshot().find('a')).toBe(kept);
    expect(metrics.values.get('ute_degraded{tools}')).toBe(1);
    why = undefined;
    expect(await sync.reload()).toMatchObject({ ok: true, warnings: [] });
    expect(metrics.values.get('ute_degraded{tools}')).toBe(0);
    await sync.stop();
  });

  it('what another loader brings comes into force while one is away', async () => {
    const away: { why?: SourceAway } = {};
    const other = { set: loaded([declared('b')]) };
    const load = async () => {
      if (away.why !== undefined) throw away.why;
      return loaded([declared('a')]);
    };
    const sync = syncOf({ load }, looksOnly, { load: async () => other.set });
    await sync.start();
    away.why = new SourceAway('cannot be reached');
    other.set = loaded([declared('c')]);
    expect(await sync.reload()).toMatchObject({ ok: true });
    expect(names()).toEqual(['a', 'c']);
    await sync.stop();
  });

  it('of a thousand problems, a hundred go to the log and all to the status', async () => {
    const { source, sync } = holding(loaded([declared('a')]));
    await sync.start();
    source.set = loaded(
      [],
      Array.from({ length: 1_000 }, (_, line) => ({ file: FILE, line, message: 'wrong' })),
    );
    expect((await sync.reload()).problems).toHaveLength(1_000);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(101);
    await sync.stop();
  });
});

describe('other loaders while it runs', () => {
  /** Brings one tool; tells how often it was asked, whether it is watched, and whether it is closed. */
  function loaderOf(name: string, edition = 1) {
    const seen = { loads: 0, closed: false, changed: undefined as (() => void) | undefined, edition };
    const loader: Loader = {
      load: async () => {
        seen.loads += 1;
        return loaded([declared(name, seen.edition)]);
      },
      watch: async (changed, signal) => {
        seen.changed = changed;
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        seen.changed = undefined;
      },
      close: async () => void (seen.closed = true),
    };
    return { seen, named: { type: 'fake', loader } };
  }

  it('bring their tools at once, are watched, and are closed with their tools once they are gone', async () => {
    const [a, b, c] = [loaderOf('a'), loaderOf('b'), loaderOf('c')];
    const sync = syncOf(a.named.loader);
    await sync.start();
    sync.use([a.named, b.named]);
    await eventually(() => expect(b.seen.changed).toBeDefined());
    expect(names()).toEqual(['a', 'b']);
    b.seen.edition = 2;
    b.seen.changed?.();
    await eventually(() => expect(executor.prepared).toContain('b 2'));
    sync.use([c.named, a.named]);
    await eventually(() => expect(b.seen.closed).toBe(true));
    expect(b.seen.changed).toBeUndefined();
    expect(names().toSorted()).toEqual(['a', 'c']);
    expect({ a: a.seen.closed, prepared: executor.prepared.filter((what) => what === 'a 1') }).toEqual({
      a: false,
      prepared: ['a 1'],
    });
    await sync.stop();
    expect([a.seen.closed, c.seen.closed]).toEqual([true, true]);
  });

  it('that are the same ones in the same order are not asked anew', async () => {
    const a = loaderOf('a');
    const sync = syncOf(a.named.loader);
    await sync.start();
    sync.use([a.named]);
    await sync.stop();
    expect(a.seen.loads).toBe(1);
  });

  it('whose tools are refused leave the set as it is, which says so, until what they bring is good', async () => {
    const [a, b] = [loaderOf('a'), loaderOf('b', 13)];
    const sync = syncOf(a.named.loader);
    await sync.start();
    sync.use([b.named]);
    await eventually(() => expect(sync.status()).toMatchObject({ ok: false, tools: 1 }));
    expect(names()).toEqual(['a']);
    await eventually(() => expect(b.seen.changed).toBeDefined());
    b.seen.edition = 1;
    b.seen.changed?.();
    await eventually(() => expect(names()).toEqual(['b']));
    await sync.stop();
  });
});
