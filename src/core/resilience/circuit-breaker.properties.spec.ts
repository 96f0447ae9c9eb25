// Specs of CircuitBreaker as a machine: held against a plain model of it, under any history.
import * as fc from 'fast-check';
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

/** What an observer would write down, with nothing kept short: every outcome, every pass by the state it was given in. */
class Model {
  state: CircuitState = 'closed';
  /** Grows with every change of state. */
  era = 0;
  outcomes: { readonly slice: number; readonly failed: boolean }[] = [];
  openings = 0;
  openUntil = 0;
  probing = 0;
  passed = 0;
  lastProbeAt = 0;
  readonly #chance: number;

  constructor(chance: number) {
    this.#chance = chance;
  }

  admits(now: number): boolean {
    if (this.state === 'isolated') return false;
    if (this.state === 'open' && now < this.openUntil) return false;
    if (this.state === 'open') {
      this.probing = 0;
      this.passed = 0;
      this.#become('half_open');
    }
    if (this.state === 'closed') return true;
    const slots = this.passed === 0 ? 1 : PROBES - this.passed;
    if (this.probing >= slots && now - this.lastProbeAt < PROBE_PATIENCE_MS) return false;
    this.probing += 1;
    this.lastProbeAt = now;
    return true;
  }

  settle(era: number, outcome: Outcome, now: number): void {
    if (era !== this.era) return;
    if (this.state === 'half_open') {
      this.probing -= 1;
      if (outcome === 'failed') this.#open(now);
      if (outcome === 'answered') this.passed += 1;
      if (outcome === 'answered' && this.passed === PROBES) this.close();
    } else if (outcome !== 'unknown') {
      this.outcomes.push({ slice: sliceOf(now), failed: outcome === 'failed' });
      if (outcome === 'failed' && this.#inTrouble(now)) this.#open(now);
    }
  }

  isolate(): void {
    if (this.state !== 'isolated') this.#become('isolated');
  }

  close(): void {
    this.outcomes = [];
    this.openings = 0;
    if (this.state !== 'closed') this.#become('closed');
  }

  #inTrouble(now: number): boolean {
    const latest = this.outcomes.slice(-FAILURES_IN_A_ROW);
    if (latest.length === FAILURES_IN_A_ROW && latest.every(({ failed }) => failed)) return true;
    const inWindow = this.outcomes.filter(({ slice }) => slice > sliceOf(now) - 10);
    const failures = inWindow.filter(({ failed }) => failed).length;
    return inWindow.length >= WINDOW_MIN_CALLS && failures * 2 >= inWindow.length;
  }

  #open(now: number): void {
    const fullMs = Math.min(LONGEST_OPEN_MS, FIRST_OPEN_MS * 2 ** this.openings);
    this.openings += 1;
    this.openUntil = now + Math.round(fullMs * (1 - 0.2 * this.#chance));
    this.#become('open');
  }

  #become(state: CircuitState): void {
    this.state = state;
    this.era += 1;
  }
}

function sliceOf(now: number): number {
  return Math.floor(now / (WINDOW_MS / 10));
}

type Step =
  | { readonly do: 'run'; readonly outcomes: readonly Outcome[] }
  | { readonly do: 'enter' | 'isolate' | 'reset' }
  | { readonly do: 'settle'; readonly which: number; readonly outcome: Outcome }
  | { readonly do: 'wait'; readonly ms: number };

const outcome = fc.constantFrom<Outcome>('answered', 'failed', 'failed', 'unknown');
const runs = fc.oneof(
  fc.array(outcome, { maxLength: 30 }),
  fc.constant<Outcome[]>(Array(FAILURES_IN_A_ROW).fill('failed')),
  fc.constant<Outcome[]>(Array(PROBES).fill('answered')),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: runs.map((outcomes): Step => ({ do: 'run', outcomes })) },
  { weight: 8, arbitrary: fc.constant<Step>({ do: 'enter' }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('settle' as const), which: fc.nat(20), outcome }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(2 * FIRST_OPEN_MS) }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'wait', ms: LONGEST_OPEN_MS }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'isolate' }, { do: 'reset' }, { do: 'reset' }) },
);

const LONG_WAIT: Step = { do: 'wait', ms: LONGEST_OPEN_MS };
const ENTER: Step = { do: 'enter' };

/** Mostly single steps, and now and then a few in a row that lead where chance seldom does. */
const history = fc
  .array(
    fc.oneof(
      { weight: 12, arbitrary: step.map((one) => [one]) },
      { weight: 1, arbitrary: fc.constant([LONG_WAIT, run('answered'), ENTER, ENTER, ENTER]) },
      {
        weight: 1,
        arbitrary: fc.constant(Array.from({ length: 5 }, () => [LONG_WAIT, run('failed')]).flat()),
      },
      { weight: 1, arbitrary: fc.nat(25).map((pairs) => [run(...mixed(pairs))]) },
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.flat());

function run(...outcomes: readonly Outcome[]): Step {
  return { do: 'run', outcomes };
}

function mixed(count: number): readonly Outcome[] {
  return Array.from({ length: count }, (): Outcome[] => ['answered', 'failed']).flat();
}

describe('CircuitBreaker', () => {
  it('does what the model does, under any history', () => {
    const seen = new Set<CircuitState>();
    fc.assert(
      fc.property(history, fc.double({ min: 0, max: 0.999, noNaN: true }), (all, chance) => {
        play(all, chance, seen);
      }),
      { numRuns: 300 },
    );
    expect([...seen].sort()).toEqual(['closed', 'half_open', 'isolated', 'open']);
  });

  it('is closed again soon after the upstream is back', () => {
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 200 }), (outcomes) => {
        const clock = new FakeClock(1_000_000);
        const circuit = new CircuitBreaker({ clock, random: () => 0, onChange: () => undefined });
        for (const each of outcomes) {
          if (circuit.state === 'open') clock.jumpTo(clock.now() + LONGEST_OPEN_MS);
          circuit.settle(circuit.enter(), each);
        }
        clock.jumpTo(clock.now() + LONGEST_OPEN_MS);
        for (let probe = 0; probe < PROBES; probe += 1) circuit.settle(circuit.enter(), 'answered');
        expect(circuit.state).toBe('closed');
      }),
    );
  });
});

function play(steps: readonly Step[], chance: number, seen: Set<CircuitState>): void {
  const clock = new FakeClock(1_000_000);
  const changes: CircuitState[] = [];
  const onChange = (_from: CircuitState, to: CircuitState) => void changes.push(to);
  const circuit = new CircuitBreaker({ clock, random: () => chance, onChange });
  const model = new Model(chance);
  const running: { readonly pass: number; readonly era: number }[] = [];

  function enter(): void {
    const pass = circuit.enter();
    expect(pass !== REFUSED).toBe(model.admits(clock.now()));
    if (pass !== REFUSED) running.push({ pass, era: model.era });
  }

  function settle(which: number, said: Outcome): void {
    const [settled] = running.splice(which, 1);
    if (settled === undefined) return;
    circuit.settle(settled.pass, said);
    model.settle(settled.era, said, clock.now());
  }

  for (const each of steps) {
    if (each.do === 'wait') clock.jumpTo(clock.now() + each.ms);
    if (each.do === 'enter') enter();
    if (each.do === 'settle') settle(each.which % Math.max(1, running.length), each.outcome);
    if (each.do === 'isolate') [circuit, model].forEach((one) => one.isolate());
    if (each.do === 'reset') {
      circuit.reset();
      model.close();
    }
    for (const said of each.do === 'run' ? each.outcomes : []) {
      const before = running.length;
      enter();
      if (running.length > before) settle(running.length - 1, said);
    }
    seen.add(circuit.state);
    expect(circuit.state).toBe(model.state);
    expect(changes).toHaveLength(model.era);
  }
}
