// Specs of CircuitBreaker: its states one by one. Any history: circuit-breaker.properties.spec.ts.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { CircuitState } from '../../ports/circuit-control.ts';
import {
  CircuitBreaker,
  FAILURES_IN_A_ROW,
  FIRST_OPEN_MS,
  LONGEST_OPEN_MS,
  PROBE_PATIENCE_MS,
  PROBES,
  REFUSED,
  WINDOW_MIN_CALLS,
  WINDOW_MS,
  type Outcome,
} from './circuit-breaker.ts';

function circuitAt(now = 1_000_000, random = () => 0) {
  const clock = new FakeClock(now);
  const changes: { from: CircuitState; to: CircuitState; openForMs: number }[] = [];
  const circuit = new CircuitBreaker({
    clock,
    random,
    onChange: (from, to, openForMs) => void changes.push({ from, to, openForMs }),
  });
  const run = (...outcomes: readonly Outcome[]) => {
    for (const outcome of outcomes) circuit.settle(circuit.enter(), outcome);
  };
  const times = (count: number, outcome: Outcome) => run(...Array.from({ length: count }, () => outcome));
  const open = () => times(FAILURES_IN_A_ROW, 'failed');
  return { clock, circuit, changes, run, times, open };
}

describe('a closed circuit', () => {
  it('opens after failures in a row, and not one earlier', () => {
    const { circuit, times, changes } = circuitAt();
    times(FAILURES_IN_A_ROW - 1, 'failed');
    expect(circuit.state).toBe('closed');
    times(1, 'failed');
    expect(circuit.state).toBe('open');
    expect(changes).toEqual([{ from: 'closed', to: 'open', openForMs: FIRST_OPEN_MS }]);
  });

  it('begins to count anew with every answer; what says nothing is no answer', () => {
    const { circuit, run } = circuitAt();
    run('failed', 'failed', 'failed', 'failed', 'answered', 'failed', 'failed', 'failed', 'failed');
    expect(circuit.state).toBe('closed');
    run('unknown', 'unknown', 'failed');
    expect(circuit.state).toBe('open');
  });

  it('opens when half of enough calls failed within the window', () => {
    const { circuit, run, times } = circuitAt();
    for (let pair = 1; pair < WINDOW_MIN_CALLS / 2; pair += 1) run('answered', 'failed');
    run('answered');
    expect(circuit.state).toBe('closed');
    times(1, 'failed');
    expect(circuit.state).toBe('open');
  });

  it('stays closed when fewer failed, and forgets what is older than the window', () => {
    const { circuit, run, clock } = circuitAt();
    for (let call = 0; call < 100; call += 1) run('answered', 'answered', 'failed');
    expect(circuit.state).toBe('closed');
    const few = circuitAt();
    for (let pair = 1; pair < WINDOW_MIN_CALLS / 2; pair += 1) few.run('answered', 'failed');
    few.clock.jumpTo(few.clock.now() + WINDOW_MS);
    few.run('answered', 'failed');
    expect(few.circuit.state).toBe('closed');
    clock.jumpTo(clock.now() + WINDOW_MS);
    expect(circuit.status()).toMatchObject({ calls: 0, failures: 0 });
  });
});

describe('an open circuit', () => {
  it('refuses with the time that is left, and says that nothing was done', () => {
    const { circuit, clock, open } = circuitAt();
    open();
    clock.jumpTo(clock.now() + 1_000);
    expect(circuit.enter()).toBe(REFUSED);
    expect(circuit.refusal()).toMatchObject({
      type: 'UNAVAILABLE',
      origin: 'gateway',
      reason: 'CIRCUIT_OPEN',
      retryable: true,
      retryAfterMs: FIRST_OPEN_MS - 1_000,
      partialSideEffects: false,
    });
  });

  it('lets one call through after its time, then a few, and closes when they were answered', () => {
    const { circuit, clock, open, changes } = circuitAt();
    open();
    clock.jumpTo(clock.now() + FIRST_OPEN_MS);
    const first = circuit.enter();
    expect(first).not.toBe(REFUSED);
    expect(circuit.enter()).toBe(REFUSED);
    circuit.settle(first, 'answered');
    const two = [circuit.enter(), circuit.enter()];
    expect(two).not.toContain(REFUSED);
    expect(circuit.enter()).toBe(REFUSED);
    for (const pass of two) circuit.settle(pass, 'answered');
    expect(circuit.state).toBe('closed');
    expect(changes.map(({ to }) => to)).toEqual(['open', 'half_open', 'closed']);
  });

  it('doubles its time with every probe that fails, up to the longest', () => {
    const { clock, open, run, changes } = circuitAt();
    open();
    for (let probe = 0; probe < 5; probe += 1) {
      clock.jumpTo(clock.now() + LONGEST_OPEN_MS);
      run('failed');
    }
    const times = changes.filter(({ to }) => to === 'open').map(({ openForMs }) => openForMs);
    expect(times).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  it('leaves a fifth of its time to chance', () => {
    const { open, changes } = circuitAt(1_000_000, () => 0.999);
    open();
    expect(changes[0]?.openForMs).toBe(4_001);
  });

  it('begins at the first open time again once it was closed', () => {
    const { clock, open, times, run, changes } = circuitAt();
    open();
    clock.jumpTo(clock.now() + FIRST_OPEN_MS);
    run('failed');
    clock.jumpTo(clock.now() + LONGEST_OPEN_MS);
    times(PROBES, 'answered');
    open();
    expect(changes.at(-1)).toEqual({ from: 'closed', to: 'open', openForMs: FIRST_OPEN_MS });
  });

  it('is not kept open by a clock that was set back', () => {
    const { circuit, clock, open } = circuitAt();
    open();
    clock.jumpTo(clock.now() - 3_600_000);
    expect(circuit.enter()).toBe(REFUSED);
    clock.jumpTo(clock.now() + FIRST_OPEN_MS);
    expect(circuit.enter()).not.toBe(REFUSED);
  });
});

describe('a half-open circuit', () => {
  function halfOpen() {
    const made = circuitAt();
    made.open();
    made.clock.jumpTo(made.clock.now() + FIRST_OPEN_MS);
    return made;
  }

  it('counts no outcome of a call that began before it', () => {
    const { circuit, clock, times } = circuitAt();
    const slow = [circuit.enter(), circuit.enter(), circuit.enter()];
    times(FAILURES_IN_A_ROW, 'failed');
    clock.jumpTo(clock.now() + FIRST_OPEN_MS);
    const probe = circuit.enter();
    for (const pass of slow) circuit.settle(pass, 'answered');
    expect(circuit.state).toBe('half_open');
    circuit.settle(probe, 'failed');
    expect(circuit.state).toBe('open');
  });

  it('takes a probe that says nothing for none', () => {
    const { circuit, run } = halfOpen();
    run('unknown', 'unknown', 'unknown', 'unknown');
    expect(circuit.state).toBe('half_open');
    run('answered', 'answered', 'answered');
    expect(circuit.state).toBe('closed');
  });

  it('does not wait for ever for a slow probe', () => {
    const { circuit, clock } = halfOpen();
    circuit.enter();
    clock.jumpTo(clock.now() + PROBE_PATIENCE_MS - 1);
    expect(circuit.enter()).toBe(REFUSED);
    clock.jumpTo(clock.now() + 1);
    expect(circuit.enter()).not.toBe(REFUSED);
    expect(circuit.enter()).toBe(REFUSED);
  });
});

describe('an operator', () => {
  it('isolates an upstream until it is reset, whatever running calls say', () => {
    const { circuit, clock } = circuitAt();
    const running = circuit.enter();
    circuit.isolate();
    circuit.settle(running, 'answered');
    clock.jumpTo(clock.now() + 10 * LONGEST_OPEN_MS);
    expect(circuit.enter()).toBe(REFUSED);
    expect(circuit.refusal().retryAfterMs).toBe(LONGEST_OPEN_MS);
    circuit.reset();
    expect(circuit.enter()).not.toBe(REFUSED);
    expect(circuit.status()).toMatchObject({ state: 'closed', calls: 0, failuresInARow: 0 });
  });
});
