// WatchTools: the reader's picture of the tools always becomes right, however slow the reader and whatever changed.
import { describe, expect, it } from 'vitest';
import protobuf from 'protobufjs';
import { OneByOne } from '../../../lib/concurrency/one-by-one.ts';
import { functionsOf, type Viewer } from '../../../contract/tool/tool-function.ts';
import type { ToolSet } from '../../../contract/tool/tool-set.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { principalOf, specOf } from '../../../../test/helpers/call-kit.ts';
import { watchTools } from './watch-tools.ts';
import { PROTO_DIR, PROTO_FILE, PROTO_PACKAGE } from '../wire-types.ts';

const root = new protobuf.Root();
root.resolvePath = (_origin, target) => PROTO_DIR + target;
root.loadSync(PROTO_FILE);
const EventType = root.lookupType(`${PROTO_PACKAGE}.WatchToolsResponse`);

class ScriptedCatalog implements ToolCatalog {
  #listeners = new Set<(snapshot: ToolSet) => void>();
  #disabled = new Set<string>();
  #snapshot = this.#snapshotOf('v0', {});

  #snapshotOf(version: string, tools: Record<string, string>): ToolSet {
    const specs = Object.entries(tools).map(([name, contentHash]) => specOf({ name, contentHash }));
    return {
      version,
      contentHash: version,
      specs,
      functions: specs.flatMap(functionsOf),
      find: () => undefined,
      providerName: (name) => name,
    };
  }

  set(version: string, tools: Record<string, string>): void {
    this.#snapshot = this.#snapshotOf(version, tools);
    this.#notify();
  }

  disable(name: string): void {
    this.#disabled.add(name);
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener(this.#snapshot);
  }

  snapshot = () => this.#snapshot;
  isDisabled = (name: string) => this.#disabled.has(name);

  onChange(listener: (snapshot: ToolSet) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}

/** Once everything has had its turn. */
async function told(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await new Promise((next) => setImmediate(next));
}

async function setUp(authorize: () => Viewer = () => ({ principal: principalOf() })) {
  const catalog = new ScriptedCatalog();
  catalog.set('v1', { a: '1', b: '1' });
  const events: unknown[] = [];
  const errors: unknown[] = [];
  let drained: () => void = () => undefined;
  let drain: (failure: ToolFailure) => void = () => undefined;
  const pace = {
    writableNeedDrain: false,
    on: (_event: 'drain', listener: () => void) => (drained = listener),
    off: () => undefined,
  };
  const subscription = watchTools({
    catalog,
    pace,
    turns: new OneByOne(),
    authorize,
    onDrain: (end) => {
      drain = end;
      return () => undefined;
    },
    asError: (thrown) => thrown as Error,
  }).subscribe({
    next: (bytes) => events.push(EventType.toObject(EventType.decode(bytes), { arrays: true })),
    error: (error) => errors.push(error),
  });
  await told();
  return {
    catalog,
    events,
    errors,
    pace,
    subscription,
    resume: () => drained(),
    drain: (f: ToolFailure) => drain(f),
  };
}

describe('watching tools', () => {
  it('tells all names first and then what was added, removed and changed', async () => {
    const { catalog, events } = await setUp();
    catalog.set('v2', { a: '2', c: '1' });
    await told();
    expect(events).toEqual([
      { registryVersion: 'v1', snapshot: { names: ['a', 'b'] } },
      { registryVersion: 'v2', changes: { added: ['c'], removed: ['b'], changed: ['a'] } },
    ]);
  });

  it('tells a kill switch as a change', async () => {
    const { catalog, events } = await setUp();
    catalog.disable('b');
    await told();
    expect(events.at(-1)).toEqual({
      registryVersion: 'v1',
      changes: { added: [], removed: [], changed: ['b'] },
    });
  });

  it('says nothing when nothing is different', async () => {
    const { catalog, events } = await setUp();
    catalog.set('v1', { a: '1', b: '1' });
    await told();
    expect(events).toHaveLength(1);
  });

  it('gives a slow reader several changes as one', async () => {
    const { catalog, events, pace, resume } = await setUp();
    pace.writableNeedDrain = true;
    catalog.set('v2', { a: '1', b: '1', c: '1' });
    catalog.set('v3', { a: '1', c: '1', d: '1' });
    await told();
    expect(events).toHaveLength(1);
    pace.writableNeedDrain = false;
    resume();
    await told();
    expect(events.at(-1)).toEqual({
      registryVersion: 'v3',
      changes: { added: ['c', 'd'], removed: ['b'], changed: [] },
    });
  });

  it('ends before it tells anything to a credential withdrawn since', async () => {
    let allowed = true;
    const { catalog, events, errors } = await setUp(() => {
      if (!allowed) throw new ToolFailure('AUTH', 'Revoked.');
      return { principal: principalOf() };
    });
    allowed = false;
    catalog.set('v2', {});
    await told();
    expect(events).toHaveLength(1);
    expect(errors).toMatchObject([{ type: 'AUTH' }]);
    expect(catalog.listeners).toBe(0);
  });

  it('ends at once when the gateway drains', async () => {
    const { errors, drain, catalog } = await setUp();
    drain(new ToolFailure('UNAVAILABLE', 'Draining.'));
    expect(errors).toMatchObject([{ type: 'UNAVAILABLE' }]);
    expect(catalog.listeners).toBe(0);
  });

  it('listens no longer when the reader has gone', async () => {
    const { catalog, subscription } = await setUp();
    subscription.unsubscribe();
    expect(catalog.listeners).toBe(0);
  });

  it('tells what changes while it is about to tell something else', async () => {
    const { catalog, events } = await setUp();
    catalog.set('v2', { a: '1' });
    catalog.set('v3', { a: '1', c: '1' });
    catalog.set('v4', { a: '2', c: '1' });
    await told();
    const names = new Map([
      ['a', '1'],
      ['b', '1'],
    ]);
    for (const { changes } of events.slice(1) as { changes: Record<string, string[]> }[]) {
      for (const name of changes['removed'] ?? []) names.delete(name);
      for (const name of [...(changes['added'] ?? []), ...(changes['changed'] ?? [])]) names.set(name, 'new');
    }
    expect([...names]).toEqual([
      ['a', 'new'],
      ['c', 'new'],
    ]);
    expect(events.at(-1)).toMatchObject({ registryVersion: 'v4' });
  });

  it('is told nothing by a look whose credential is withdrawn before its turn comes', async () => {
    let allowed = 3;
    const { catalog, events, errors } = await setUp(() => {
      allowed -= 1;
      if (allowed < 0) throw new ToolFailure('AUTH', 'Revoked.');
      return { principal: principalOf() };
    });
    catalog.set('v2', {});
    await told();
    expect(events).toHaveLength(1);
    expect(errors).toMatchObject([{ type: 'AUTH' }]);
  });

  it('a change gives each of many watchers a turn of its own', async () => {
    const catalog = new ScriptedCatalog();
    catalog.set('v1', { a: '1' });
    const pace = { writableNeedDrain: false, on: () => undefined, off: () => undefined };
    const [turns, watchers] = [new OneByOne(), 50];
    let toldOf = 0;
    const authorize = () => ({ principal: principalOf() });
    const watch = {
      catalog,
      pace,
      turns,
      authorize,
      onDrain: () => () => undefined,
      asError: (e: unknown) => e as Error,
    };
    for (let each = 0; each < watchers; each += 1) watchTools(watch).subscribe(() => (toldOf += 1));
    const between: number[] = [];
    // On a busy machine the slice of a watcher may be over before it is told: it takes a turn or two more.
    for (const _turn of Array.from({ length: 5 * watchers })) {
      const before = toldOf;
      await new Promise((next) => setImmediate(next));
      between.push(toldOf - before);
    }
    expect([toldOf, Math.max(...between)]).toEqual([watchers, 1]);
  });
});
