// The replicas on the wire.
import { z } from 'zod';
import { json, route } from '../route/route.ts';
import { flag, list, named, text } from '../route/shapes.ts';

const Replica = named('Replica', () =>
  z.object({
    id: text('Of one process, made when it starts.'),
    registry_version: text(),
    hash: text('sha256 of the tools it holds: equal exactly where they are.'),
    seen_at: text(),
  }),
);

const ReplicaList = named('ReplicaList', () =>
  z.object({
    self: text('The replica that answers.'),
    agree: flag('Whether all of them hold the same tools.'),
    replicas: list(Replica()),
  }),
);

export const listReplicas = route({
  operationId: 'listReplicas',
  method: 'get',
  path: '/v1/admin/replicas',
  tag: 'admin',
  summary: 'The replicas that share a Redis, and the tools each holds',
  answers: { 200: json('The replicas, by id.', ReplicaList) },
  problems: [],
});
