// The replicas as OpenAPI says them.
import type { JsonObject } from '../../contract/json.ts';
import { answer, listOf, managed, record, schemaRef, text } from './openapi-parts.ts';

export const REPLICA_SCHEMAS: JsonObject = {
  Replica: record({
    id: text('Of one process, made when it starts.'),
    registry_version: { type: 'string' },
    hash: text('sha256 of the tools it holds: equal exactly where they are.'),
    seen_at: { type: 'string' },
  }),
  ReplicaList: record({
    self: text('The replica that answers.'),
    agree: { type: 'boolean', description: 'Whether all of them hold the same tools.' },
    replicas: listOf(schemaRef('Replica')),
  }),
};

export const replicaPaths: JsonObject = {
  '/v1/admin/replicas': {
    get: managed(
      {
        operationId: 'listReplicas',
        tags: ['admin'],
        summary: 'The replicas that share a Redis, and the tools each holds',
      },
      answer('The replicas, by id.', schemaRef('ReplicaList')),
    ),
  },
};
