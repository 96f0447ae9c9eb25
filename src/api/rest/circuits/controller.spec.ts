// The levers of the circuit breakers: each turns the upstream of the path, in the operator's name, or says that there is none.
import { expect, it } from 'vitest';
import { ask } from '../../../../test/helpers/management-kit.ts';
import type { CircuitControl, CircuitState, CircuitStatus } from '../../../ports/circuit-control.ts';
import { CircuitsController } from './controller.ts';
import { isolateCircuit, listCircuits, resetCircuit } from './schema.ts';

const of = (upstream: string) => ({ params: { upstream } });

function controllerOf() {
  const turned: string[] = [];
  const turn = (state: CircuitState) => (upstream: string, by: string) => {
    turned.push(`${state} ${upstream} by ${by}`);
    return upstream === 'http:a' ? statusOf(upstream, state) : undefined;
  };
  const circuits: CircuitControl = {
    list: () => [statusOf('http:a', 'open')],
    isolate: turn('isolated'),
    reset: turn('closed'),
  };
  return { turned, controller: new CircuitsController(circuits) };
}

const statusOf = (upstream: string, state: CircuitState): CircuitStatus => ({
  upstream,
  state,
  retryAfterMs: 0,
  calls: 4,
  failures: 3,
  failuresInARow: 2,
});

it('a circuit is shown with what it counted', async () => {
  expect((await ask(controllerOf().controller, listCircuits)).body).toEqual({
    circuits: [
      { upstream: 'http:a', state: 'open', retry_after_ms: 0, calls: 4, failures: 3, failures_in_a_row: 2 },
    ],
  });
});

it('isolating and resetting turn the one upstream, in the name of the credential', async () => {
  const { controller, turned } = controllerOf();
  expect((await ask(controller, isolateCircuit, of('http:a'))).body).toMatchObject({ state: 'isolated' });
  expect((await ask(controller, resetCircuit, of('http:a'))).body).toMatchObject({ state: 'closed' });
  expect(turned).toEqual(['isolated http:a by op', 'closed http:a by op']);
});

it('an upstream that no tool calls is NOT_FOUND', async () => {
  await expect(ask(controllerOf().controller, isolateCircuit, of('http:b'))).rejects.toMatchObject({
    type: 'NOT_FOUND',
    reason: 'UPSTREAM_NOT_FOUND',
  });
});
