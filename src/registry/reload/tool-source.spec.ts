// ToolSource: the last good set is kept here for every loader, and a loader that is not required holds nothing up.
import { beforeEach, describe, expect, it } from 'vitest';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import type { Loader } from '../../contract/plugin.ts';
import type { LoadedTools, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import { SourceAway } from '../../contract/tool/source-away.ts';
import { ToolSource } from './tool-source.ts';

const SOURCE = 'https://tools.example/t.yaml';
const STALE = `ute_loader_source_stale{http,${SOURCE}}`;

let clock: FakeClock;
let log: ReturnType<typeof recordingLog>;
let metrics: ReturnType<typeof recordingMetrics>;
let came: number;
let answer: LoadedTools | Error;

beforeEach(() => {
  clock = new FakeClock();
  log = recordingLog();
  metrics = recordingMetrics();
  came = 0;
  answer = setOf('a');
});

function setOf(name: string): LoadedTools {
  const declaration: RawDeclaration = {
    value: { name },
    contentHash: name,
    baseDir: '/',
    locate: () => ({ file: SOURCE }),
  };
  return { tools: [declaration], connections: [], problems: [] };
}

function sourceOf(over: Partial<Loader> = {}): ToolSource {
  const load = async () => {
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const needs = { clock, log, metrics, came: () => void (came += 1) };
  return new ToolSource({ type: 'http', loader: { source: SOURCE, load, ...over } }, needs);
}

const never = new AbortController().signal;
const away = (cause?: unknown) => new SourceAway('cannot be reached', { cause });

describe('a source that is away', () => {
  it('leaves what it gave last that came into force, and not what was refused after it', async () => {
    const source = sourceOf();
    const good = await source.load(never);
    source.taken(good);
    answer = setOf('refused');
    await source.load(never);
    answer = away();
    const { loaded, warning } = await source.load(never);
    expect(loaded).toBe(good.loaded);
    expect(warning).toEqual({
      file: SOURCE,
      message: `cannot be reached; what it gave at ${new Date(clock.wall()).toISOString()} stays in force`,
    });
  });

  it('is counted, and told once each way, with its cause in the log alone', async () => {
    const source = sourceOf();
    expect(metrics.values.get(STALE)).toBe(0);
    source.taken(await source.load(never));
    answer = away(new Error('ECONNREFUSED'));
    const told = [await source.load(never), await source.load(never)];
    expect(metrics.values.get(STALE)).toBe(1);
    expect(JSON.stringify(told)).not.toContain('ECONNREFUSED');
    answer = setOf('a');
    await source.load(never);
    expect(metrics.values.get(STALE)).toBe(0);
    expect(log.lines.map(({ level, fields }) => [level, fields['degraded']])).toEqual([
      ['warn', true],
      ['info', undefined],
    ]);
    expect(String(log.lines[0]?.fields['err'])).toContain('ECONNREFUSED');
  });

  it('and has never given anything is a problem that names it', async () => {
    answer = away();
    expect(await sourceOf().load(never)).toEqual({
      loaded: { tools: [], connections: [], problems: [{ file: SOURCE, message: 'cannot be reached' }] },
    });
  });

  it('what its loader keeps of it counts instead of what it gave last', async () => {
    const kept = setOf('kept');
    const source = sourceOf({ kept: async () => ({ loaded: kept, says: 'the copy stays in force' }) });
    source.taken(await source.load(never));
    answer = away();
    const given = await source.load(never);
    expect(given.loaded).toBe(kept);
    expect(given.warning?.message).toBe('cannot be reached; the copy stays in force');
  });

  it('is not told that its set was taken: what was taken is not its own', async () => {
    let taken = 0;
    const source = sourceOf({ taken: () => (taken += 1) });
    source.taken(await source.load(never));
    answer = away();
    source.taken(await source.load(never));
    expect(taken).toBe(1);
  });

  it('a crash of the loader is a problem that names the source, and no absence', async () => {
    const source = sourceOf();
    source.taken(await source.load(never));
    answer = new Error('disk on fire');
    expect((await source.load(never)).loaded.problems).toEqual([
      { file: SOURCE, message: 'Error: disk on fire' },
    ]);
    expect(metrics.values.get(STALE)).toBe(0);
  });
});

describe('a loader that is not required', () => {
  const hanging = () => {
    const { promise, resolve, reject } = Promise.withResolvers<LoadedTools>();
    let loads = 0;
    const load = (signal: AbortSignal) => {
      loads += 1;
      signal.addEventListener('abort', () => reject(signal.reason));
      return promise;
    };
    return { loader: { required: false, load }, resolve, reject, loads: () => loads };
  };

  it('and is away, with nothing kept of it, is a warning and no problem', async () => {
    answer = away();
    expect(await sourceOf({ required: false }).load(never)).toEqual({
      loaded: { tools: [], connections: [], problems: [] },
      warning: { file: SOURCE, message: 'cannot be reached' },
    });
  });

  it('is waited for no longer than a moment; its tools come when it answers, without a second load', async () => {
    const { loader, resolve, loads } = hanging();
    const source = sourceOf(loader);
    const first = source.load(never);
    await clock.advance(2_000);
    expect((await first).warning?.message).toBe('has not answered yet; its tools come when it does');
    const again = source.load(never);
    await clock.advance(2_000);
    expect((await again).warning).toBeDefined();
    expect([came, loads()]).toEqual([0, 1]);
    const set = setOf('late');
    resolve(set);
    await settled();
    expect(came).toBe(1);
    expect(await source.load(never)).toEqual({ loaded: set });
    expect(loads()).toBe(1);
    await source.load(never);
    expect([came, loads()]).toEqual([1, 2]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that answers in time is waited for: nothing comes later', async () => {
    const { loader, resolve } = hanging();
    const loading = sourceOf(loader).load(never);
    const set = setOf('a');
    resolve(set);
    expect((await loading).loaded).toBe(set);
    await clock.advance(10_000);
    expect([came, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('that is found away after all is told of as such', async () => {
    const { loader, reject } = hanging();
    const source = sourceOf(loader);
    const first = source.load(never);
    await clock.advance(2_000);
    await first;
    reject(away());
    await settled();
    expect(came).toBe(1);
    expect((await source.load(never)).warning?.message).toBe('cannot be reached');
  });

  it('ends with its signal, however late it is', async () => {
    const ending = new AbortController();
    const { loader } = hanging();
    let closed = false;
    const source = sourceOf({ ...loader, close: async () => void (closed = true) });
    const first = source.load(ending.signal);
    await clock.advance(2_000);
    await first;
    ending.abort(new Error('stopping'));
    await source.close();
    expect(closed).toBe(true);
    await expect(source.load(ending.signal)).rejects.toThrow('stopping');
  });
});
