// The replicas as an operator sees them: this one, whether they agree, and when each was last seen.
import { expect, it } from 'vitest';
import { ask } from '../../../../test/helpers/management-kit.ts';
import { ReplicasController } from './controller.ts';
import { listReplicas } from './schema.ts';

it('the replicas are told with their versions and times', async () => {
  const seen = { id: 'b', version: '1.0.x', hash: 'h', seenAt: 0 };
  const view = { id: 'a', replicas: () => [seen], agree: () => false };
  const controller = new ReplicasController(view);
  expect((await ask(controller, listReplicas)).body).toEqual({
    self: 'a',
    agree: false,
    replicas: [{ id: 'b', registry_version: '1.0.x', hash: 'h', seen_at: '1970-01-01T00:00:00.000Z' }],
  });
});
