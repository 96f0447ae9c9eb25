// Groups of cached answers: what a change drops, and that nothing older is given after it.
import { describe, expect, it } from 'vitest';
import {
  callOf,
  functionOf,
  recordingLog,
  recordingMetrics,
  through,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { ToolContext } from '../../contract/call/tool-context.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { refusalOf, successOf } from '../../core/settle.ts';
import { MemoryResultCache } from '../../infra/cache/memory-result-cache.ts';
import type { ResultCache } from '../../ports/result-cache.ts';
import { cache as plugin } from './index.ts';
import { faultsOfCache } from './options.ts';

const SESSION: ToolContext = { tenantId: 'acme', sessionId: 's1' };
const READS = { ttl_ms: 60_000, group: 'bookings' };
const WRITES = { drops: ['bookings'] };

function kit(store?: ResultCache) {
  const clock = new FakeClock();
  const memory = new MemoryResultCache(clock, { maxEntries: 100, maxBytes: 100_000 });
  const log = recordingLog();
  const extension = plugin.create({ resultCache: store ?? memory, clock, log, metrics: recordingMetrics() });
  let ids = 0;
  const run = async (
    options: JsonObject,
    tool: () => Promise<JsonValue> | JsonValue,
    context: ToolContext = SESSION,
  ) => {
    const readOnly = !('drops' in options);
    const fn = functionOf({
      name: readOnly ? 'find' : 'book',
      metadata: { readOnly },
      extensions: { cache: options },
    });
    const call = callOf({
      id: `call-${(ids += 1)}`,
      function: fn,
      context,
      config: fn.configDefaults,
      receivedAt: clock.now(),
      deadline: clock.now() + 10_000,
    });
    return through(
      extension,
      call,
      async (inner) => {
        inner.progress.executorEntered = true;
        try {
          return successOf(inner, { data: await tool() }, 1 << 20);
        } catch (error) {
          return refusalOf(inner, error);
        }
      },
      plugin.optionsSchema.parse(options),
    );
  };
  const read = async (value: JsonValue, context?: ToolContext) => {
    const response = await run(READS, () => value, context);
    return response.ok ? response.data : response.error.type;
  };
  return { run, read, log };
}

describe('a group of cached answers', () => {
  it('is given again until a tool that drops it has run, and asked for anew then', async () => {
    const { run, read } = kit();
    expect([await read('none'), await read('never asked')]).toEqual(['none', 'none']);
    await run(WRITES, () => 'booked');
    expect([await read('Monday'), await read('never asked')]).toEqual(['Monday', 'Monday']);
  });

  it('is dropped for every session of the tenant, and for no other tenant', async () => {
    const { run, read } = kit();
    const [sibling, stranger] = [
      { tenantId: 'acme', sessionId: 's2' },
      { tenantId: 'umbrella', sessionId: 's1' },
    ];
    for (const context of [sibling, stranger]) await read('old', context);
    await run(WRITES, () => 'booked');
    expect(await read('new', sibling)).toBe('new');
    expect(await read('new', stranger)).toBe('old');
  });

  it('an answer that was under way when it was dropped is given to nobody who asks later', async () => {
    const { run, read } = kit();
    const { promise, resolve } = Promise.withResolvers<string>();
    const early = run(READS, () => promise);
    await settled();
    await run(WRITES, () => 'booked');
    expect(await read('new')).toBe('new');
    resolve('old');
    expect(await early).toMatchObject({ ok: true, data: 'old' });
    expect(await read('never asked')).toBe('new');
  });

  it('a refusal that changed nothing drops nothing; a failure that may have, does', async () => {
    const { run, read } = kit();
    const failing = (partialSideEffects: boolean) =>
      run(WRITES, () => {
        throw new ToolFailure('PERMANENT', 'No.', { origin: 'tool', partialSideEffects });
      });
    await read('old');
    await failing(false);
    expect(await read('new')).toBe('old');
    await failing(true);
    expect(await read('new')).toBe('new');
  });

  it('without its store, reads go on uncached, and a change says that older answers may be given', async () => {
    const away = () => Promise.reject(new Error('away'));
    const { run, read, log } = kit({ look: away, keep: away, release: away });
    expect([await read('one'), await read('two')]).toEqual(['one', 'two']);
    expect(await run(WRITES, () => 'booked')).toMatchObject({ ok: true });
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });
});

it.each([
  [{ drops: ['bookings'] }, true, ['drops']],
  [{ drops: ['bookings'], ttl_ms: 5 }, false, ['ttl_ms']],
  [{ drops: ['bookings'] }, false, undefined],
])('%j on a tool that is read-only (%s) is told at load', (own, readOnly, path) => {
  const fn = functionOf({ metadata: { readOnly }, extensions: { cache: own } });
  const faults = faultsOfCache(fn, plugin.optionsSchema.parse(own));
  expect(faults.map((fault) => fault.path)).toEqual(path === undefined ? [] : [path]);
});
