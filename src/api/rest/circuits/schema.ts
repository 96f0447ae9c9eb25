// The circuit breakers on the wire: where each stands, and the operator's two levers.
import { z } from 'zod';
import { json, route } from '../route/route.ts';
import { count, list, named, oneOf, shape, text } from '../route/shapes.ts';

const TAG = 'admin';

const CircuitState = named('CircuitState', () =>
  oneOf(['closed', 'open', 'half_open', 'isolated']).describe(
    '`open` with `retry_after_ms` 0: the next call tries the upstream. `isolated` lasts until reset.',
  ),
);

export const Circuit = named('Circuit', () =>
  z.object({
    upstream: text('As the executor names it.').meta({ examples: ['http:api.example.com:443'] }),
    state: CircuitState(),
    retry_after_ms: z.number().min(0),
    calls: count('Of the last 30 seconds.'),
    failures: count(),
    failures_in_a_row: count(),
  }),
);

const CircuitList = named('CircuitList', () => z.object({ circuits: list(Circuit()) }));

const params = { upstream: shape(() => text('Name of the upstream, as the list gives it.')) };

export const listCircuits = route({
  operationId: 'listCircuits',
  method: 'get',
  path: '/v1/admin/circuits',
  tag: TAG,
  summary: 'Where the circuit breaker of each upstream stands, in this replica',
  answers: { 200: json('The circuits, by name.', CircuitList) },
  problems: [],
});

export const isolateCircuit = route({
  operationId: 'isolateCircuit',
  method: 'post',
  path: '/v1/admin/circuits/{upstream}/isolate',
  tag: TAG,
  summary: 'Refuse every call to an upstream until it is reset',
  params,
  answers: { 200: json('Where the circuit stands.', Circuit) },
  problems: [404],
});

export const resetCircuit = route({
  operationId: 'resetCircuit',
  method: 'post',
  path: '/v1/admin/circuits/{upstream}/reset',
  tag: TAG,
  summary: 'Close the circuit of an upstream now',
  params,
  answers: { 200: json('Where the circuit stands.', Circuit) },
  problems: [404],
});
