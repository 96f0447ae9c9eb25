// ReplicaAgreement over the memory twin: who announces what, who loads again, and what the gauges say.
import { beforeEach, describe, expect, it } from 'vitest';
import { recordingLog, recordingMetrics, specOf } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { RegistryHints } from '../../ports/registry/registry-hints.ts';
import { MemoryRegistryHints } from '../../infra/hints/memory-registry-hints.ts';
import { ReplicaAgreement } from './replica-agreement.ts';
import { snapshotOf, ToolSpecRegistry } from '../tool-spec-registry.ts';

let clock: FakeClock;
let hints: RegistryHints;

beforeEach(() => {
  clock = new FakeClock();
  hints = new MemoryRegistryHints(clock);
});

/** A replica whose source holds `source.name`, read at each reload. */
function replica(source: { name: string }, over: RegistryHints = hints) {
  const registry = new ToolSpecRegistry();
  const metrics = recordingMetrics();
  const state = { reloads: 0 };
  const take = () =>
    registry.publish(snapshotOf([specOf({ name: source.name, contentHash: source.name })], []));
  const reload = async () => {
    state.reloads += 1;
    take();
    return undefined as never;
  };
  const deps = { hints: over, registry, metrics, clock, log: recordingLog(), random: () => 0.5 };
  const agreement = new ReplicaAgreement({ ...deps, control: { reload } });
  take();
  agreement.start();
  const gauges = () => [metrics.values.get('ute_replicas'), metrics.values.get('ute_registry_disagreement')];
  return { agreement, state, take, gauges, name: () => registry.snapshot().specs[0]?.name };
}

describe('replicas of one source', () => {
  it('hear of a change that one of them took, and load again', async () => {
    const source = { name: 'first' };
    const [one, two] = [replica(source), replica(source)];
    await clock.advance(6_000);
    expect([one.gauges(), two.gauges()]).toEqual([
      [2, 0],
      [2, 0],
    ]);
    source.name = 'second';
    one.take();
    await clock.advance(1);
    expect(two.gauges()).toEqual([2, 1]);
    await clock.advance(2_000);
    expect(two.name()).toBe('second');
    expect([one.gauges(), two.gauges()]).toEqual([
      [2, 0],
      [2, 0],
    ]);
    expect([one.state.reloads, two.state.reloads]).toEqual([0, 1]);
  });

  it('find out by the heartbeat what no hint has told them', async () => {
    const deaf: RegistryHints = { ...bound(hints), announce: async () => {}, onHint: () => () => {} };
    const source = { name: 'first' };
    const [one, two] = [replica(source, deaf), replica(source, deaf)];
    await clock.advance(6_000);
    source.name = 'second';
    one.take();
    await clock.advance(12_000);
    expect(two.name()).toBe('second');
    expect([one.gauges(), two.gauges()]).toEqual([
      [2, 0],
      [2, 0],
    ]);
  });
});

describe('replicas of different sources', () => {
  it('say that they differ and do not chase each other for ever', async () => {
    const [one, two] = [replica({ name: 'here' }), replica({ name: 'there' })];
    await clock.advance(120_000);
    expect([one.gauges(), two.gauges()]).toEqual([
      [2, 1],
      [2, 1],
    ]);
    expect([one.agreement.agree(), two.agreement.agree()]).toEqual([false, false]);
    expect(one.state.reloads).toBeLessThanOrEqual(2);
    expect(two.state.reloads).toBeLessThanOrEqual(2);
  });

  it('flooded with hints, load no more often than once a second', async () => {
    const one = replica({ name: 'here' });
    for (let n = 0; n < 1_000; n += 1) {
      await hints.announce({ id: `other-${n % 3}`, version: 'v', hash: `h${n}` });
      await clock.advance(10);
    }
    expect(one.state.reloads).toBeGreaterThan(2);
    expect(one.state.reloads).toBeLessThanOrEqual(11);
  });
});

it('a replica that stops is gone, keeps no timer and hears nothing more', async () => {
  const source = { name: 'first' };
  const [one, two] = [replica(source), replica(source)];
  await clock.advance(6_000);
  await two.agreement.stop();
  await clock.advance(6_000);
  expect(one.gauges()).toEqual([1, 0]);
  expect(one.agreement.replicas().map(({ id }) => id)).toEqual([one.agreement.id]);
  await one.agreement.stop();
  expect(clock.pendingTimers).toBe(0);
  source.name = 'second';
  one.take();
  await clock.advance(6_000);
  expect(two.state.reloads).toBe(0);
});

it('while the hints are away nothing fails, and silent replicas are forgotten after a while', async () => {
  const source = { name: 'first' };
  let away = false;
  const fragile = <T>(answer: () => Promise<T>) =>
    away ? Promise.reject(new Error('Redis is away')) : answer();
  const over: RegistryHints = {
    ...bound(hints),
    announce: (state) => fragile(() => hints.announce(state)),
    heartbeat: (state) => fragile(() => hints.heartbeat(state)),
    leave: (id) => fragile(() => hints.leave(id)),
  };
  const [one] = [replica(source, over), replica(source)];
  await clock.advance(6_000);
  expect(one.gauges()).toEqual([2, 0]);
  away = true;
  source.name = 'second';
  one.take();
  await clock.advance(20_000);
  expect(one.gauges()).toEqual([2, 1]);
  await clock.advance(60_000);
  expect(one.gauges()).toEqual([1, 0]);
  away = false;
  await clock.advance(10_000);
  expect(one.gauges()[0]).toBe(2);
  await one.agreement.stop();
});

function bound(inner: RegistryHints): RegistryHints {
  return {
    announce: (state) => inner.announce(state),
    onHint: (listener) => inner.onHint(listener),
    heartbeat: (state) => inner.heartbeat(state),
    leave: (id) => inner.leave(id),
  };
}
