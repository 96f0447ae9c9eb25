// Specs of Upstreams: one breaker per upstream, one retry budget per tool type and upstream, and a bound on both.
import { describe, expect, it } from 'vitest';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { FAILURES_IN_A_ROW, FIRST_OPEN_MS } from './circuit-breaker.ts';
import { MAX_SERIES, MAX_UPSTREAMS, Upstreams } from './upstreams.ts';

const API = 'http:api.example.com:443';

function upstreamsWith() {
  const log = recordingLog();
  const metrics = recordingMetrics();
  const clock = new FakeClock();
  const upstreams = new Upstreams({ clock, random: () => 0, log, metrics });
  const fail = (upstream: string) => {
    const circuit = upstreams.circuitOf(upstream);
    for (let call = 0; call < FAILURES_IN_A_ROW; call += 1) circuit.settle(circuit.enter(), 'failed');
  };
  const state = (upstream: string) => metrics.values.get(`ute_circuit_state{${upstream}}`);
  return { upstreams, log, clock, fail, state };
}

describe('Upstreams', () => {
  it('gives every tool of an upstream the same breaker, and another upstream another', () => {
    const { upstreams } = upstreamsWith();
    expect(upstreams.circuitOf(API)).toBe(upstreams.circuitOf(API));
    expect(upstreams.circuitOf(API)).not.toBe(upstreams.circuitOf('sql:main'));
  });

  it('shows and logs every change, and says nothing of others', () => {
    const { upstreams, log, fail, state, clock } = upstreamsWith();
    upstreams.circuitOf('sql:main');
    fail(API);
    expect(state(API)).toBe(2);
    expect(state('sql:main')).toBe(0);
    expect(log.lines).toMatchObject([
      { level: 'warn', fields: { upstream: API, from: 'closed', to: 'open', openForMs: FIRST_OPEN_MS } },
    ]);
    clock.jumpTo(clock.now() + FIRST_OPEN_MS);
    upstreams.circuitOf(API).enter();
    expect(state(API)).toBe(1);
  });

  it('lists them by name, with what is known of each', () => {
    const { upstreams, fail } = upstreamsWith();
    upstreams.circuitOf('sql:main');
    fail(API);
    expect(upstreams.list()).toEqual([
      { upstream: API, state: 'open', retryAfterMs: FIRST_OPEN_MS, calls: 5, failures: 5, failuresInARow: 5 },
      { upstream: 'sql:main', state: 'closed', retryAfterMs: 0, calls: 0, failures: 0, failuresInARow: 0 },
    ]);
  });

  it('lets an operator isolate and reset, says who did, and knows no other names', () => {
    const { upstreams, log, state } = upstreamsWith();
    upstreams.circuitOf(API);
    expect(upstreams.isolate(API, 'key00001')).toMatchObject({ state: 'isolated' });
    expect(state(API)).toBe(2);
    expect(upstreams.reset(API, 'key00002')).toMatchObject({ state: 'closed' });
    expect(state(API)).toBe(0);
    expect(log.lines.filter(({ fields }) => 'by' in fields).map(({ fields }) => fields)).toEqual([
      { upstream: API, action: 'isolate', by: 'key00001' },
      { upstream: API, action: 'reset', by: 'key00002' },
    ]);
    expect(upstreams.isolate('http:other:80', 'key00001')).toBeUndefined();
    expect(upstreams.reset('http:other:80', 'key00001')).toBeUndefined();
  });

  it('keeps one budget per tool type and upstream', () => {
    const { upstreams } = upstreamsWith();
    expect(upstreams.budgetOf('http', API)).toBe(upstreams.budgetOf('http', API));
    expect(upstreams.budgetOf('http', API)).not.toBe(upstreams.budgetOf('http', 'http:other:80'));
    expect(upstreams.budgetOf('javascript')).toBe(upstreams.budgetOf('javascript'));
    expect(upstreams.budgetOf('javascript')).not.toBe(upstreams.budgetOf('shell'));
  });

  it('is bounded: the oldest closed circuit is forgotten, one that is open is not', () => {
    const { upstreams, fail, state } = upstreamsWith();
    fail('http:0:80');
    for (let host = 1; host <= MAX_UPSTREAMS; host += 1) {
      upstreams.circuitOf(`http:${host}:80`);
      upstreams.budgetOf('http', `http:${host}:80`);
    }
    const names = new Set(upstreams.list().map(({ upstream }) => upstream));
    expect(names.size).toBe(MAX_UPSTREAMS);
    expect(names.has('http:0:80')).toBe(true);
    expect(names.has('http:1:80')).toBe(false);
    expect(state(`http:${MAX_SERIES - 1}:80`)).toBe(0);
    expect(state(`http:${MAX_SERIES}:80`)).toBeUndefined();
  });
});
