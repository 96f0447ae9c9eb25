import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { StartCircuit } from './start-circuit.ts';

function deaths(circuit: StartCircuit, count: number): void {
  for (let i = 0; i < count; i++) circuit.died();
}

describe('the start circuit', () => {
  it('pauses for five seconds after three deaths, and after each further one', async () => {
    const clock = new FakeClock();
    const circuit = new StartCircuit(clock);
    deaths(circuit, 2);
    expect(circuit.pauseMs()).toBe(0);
    circuit.died();
    expect(circuit.pauseMs()).toBe(5000);
    await clock.advance(5000);
    expect(circuit.pauseMs()).toBe(0);
    circuit.died();
    expect(circuit.pauseMs()).toBe(5000);
  });

  it('forgets deaths after thirty seconds', async () => {
    const clock = new FakeClock();
    const circuit = new StartCircuit(clock);
    deaths(circuit, 2);
    await clock.advance(30_000);
    deaths(circuit, 2);
    expect(circuit.pauseMs()).toBe(0);
  });

  it('forgets deaths when a worker becomes ready', () => {
    const circuit = new StartCircuit(new FakeClock());
    deaths(circuit, 3);
    circuit.becameReady();
    expect(circuit.pauseMs()).toBe(0);
    deaths(circuit, 2);
    expect(circuit.pauseMs()).toBe(0);
  });
});
