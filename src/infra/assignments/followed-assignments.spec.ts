// FollowedAssignments: what the database says is in force within seconds, and what was known stays so while it is away.
import { expect, it } from 'vitest';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { Assignment } from '../../ports/assignments/assignment-store.ts';
import { FollowedAssignments } from './followed-assignments.ts';

const assigned = (kind: Assignment['kind'], subject: string, contentHash: string): Assignment => ({
  tenantId: 'acme',
  tool: 'mail',
  kind,
  subject,
  contentHash,
});

it('has them in force within two seconds, apart by tenant, and keeps them while the database is away', async () => {
  const [clock, metrics] = [new FakeClock(), recordingMetrics()];
  const gauge = (name: string) => metrics.gauge({ name, help: name }).with();
  let inForce = { generation: 0, assignments: [] as Assignment[] };
  let [away, reads] = [false, 0];
  const followed = new FollowedAssignments({
    store: {
      generation: async () => {
        if (away) throw new Error('away');
        return inForce.generation;
      },
      inForce: async () => {
        reads += 1;
        return inForce;
      },
    },
    clock,
    log: recordingLog(),
    unread: gauge('unread'),
    count: gauge('count'),
  });
  await followed.start();
  expect([followed.isEmpty, followed.ofTenant('acme')]).toEqual([true, undefined]);
  const assignments = [
    assigned('tenant', 'acme', 't'),
    assigned('agent', 'desk', 'a'),
    assigned('user', 'ann', 'u'),
  ];
  inForce = { generation: 3, assignments };
  await clock.advance(2_000);
  const known = { tenant: 't', agents: new Map([['desk', 'a']]), users: new Map([['ann', 'u']]) };
  expect(followed.ofTenant('acme')).toEqual(new Map([['mail', known]]));
  expect([followed.isEmpty, followed.ofTenant('umbrella')]).toEqual([false, undefined]);
  const before = reads;
  away = true;
  await clock.advance(5_000);
  expect([followed.isAway, metrics.values.get('unread'), reads]).toEqual([true, 1, before]);
  expect(followed.ofTenant('acme')).toEqual(new Map([['mail', known]]));
  away = false;
  inForce = { generation: 4, assignments: [] };
  await clock.advance(2_000);
  expect([followed.isAway, followed.isEmpty, metrics.values.get('count')]).toEqual([false, true, 0]);
  followed.stop();
});
