// The circuit breakers as OpenAPI says them: where each stands, and the operator's two levers.
import type { JsonObject } from '../../contract/json.ts';
import { answer, listOf, managed, parameterRef, record, schemaRef, text } from './openapi-parts.ts';

export const CIRCUIT_SCHEMAS: JsonObject = {
  CircuitState: {
    enum: ['closed', 'open', 'half_open', 'isolated'],
    description:
      '`open` with `retry_after_ms` 0: the next call tries the upstream. `isolated` lasts until reset.',
  },
  Circuit: record({
    upstream: text('As the executor names it.', { examples: ['http:api.example.com:443'] }),
    state: schemaRef('CircuitState'),
    retry_after_ms: { type: 'number', minimum: 0 },
    calls: { type: 'integer', minimum: 0, description: 'Of the last 30 seconds.' },
    failures: { type: 'integer', minimum: 0 },
    failures_in_a_row: { type: 'integer', minimum: 0 },
  }),
  CircuitList: record({ circuits: listOf(schemaRef('Circuit')) }),
};

export const CIRCUIT_PARAMETERS: JsonObject = {
  Upstream: {
    name: 'upstream',
    in: 'path',
    required: true,
    description: 'Name of the upstream, as the list gives it.',
    schema: { type: 'string' },
  },
};

export const circuitPaths: JsonObject = {
  '/v1/admin/circuits': {
    get: managed(
      {
        operationId: 'listCircuits',
        tags: ['admin'],
        summary: 'Where the circuit breaker of each upstream stands, in this replica',
      },
      answer('The circuits, by name.', schemaRef('CircuitList')),
    ),
  },
  '/v1/admin/circuits/{upstream}/isolate': lever(
    'isolateCircuit',
    'Refuse every call to an upstream until it is reset',
  ),
  '/v1/admin/circuits/{upstream}/reset': lever('resetCircuit', 'Close the circuit of an upstream now'),
};

function lever(operationId: string, summary: string): JsonObject {
  return {
    post: managed(
      { operationId, tags: ['admin'], summary, parameters: [parameterRef('Upstream')] },
      answer('Where the circuit stands.', schemaRef('Circuit')),
      ['NotFound'],
    ),
  };
}
