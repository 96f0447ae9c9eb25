// Delegations of votes on a real database: never more than a tenant may have, however many are made at once by several replicas.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SqlVoteDelegations } from '../../src/infra/approvals/sql-vote-delegations.ts';
import { postgresDatabase, type SharedTestDatabase } from '../helpers/databases.ts';

let shared: SharedTestDatabase;
let replicas: SqlVoteDelegations[];

beforeAll(async () => {
  shared = await postgresDatabase();
  const databases = [shared.database, shared.another()];
  const opened = await Promise.all(databases.map((each) => each.opened()));
  replicas = opened.map(({ db }) => new SqlVoteDelegations({ db }));
});

afterAll(() => shared?.end());

const replica = (at: number) => replicas[at] as SqlVoteDelegations;
let serial = 0;
const made = (tenantId: string) => ({
  id: `d-${(serial += 1)}`,
  tenantId,
  fromUser: 'ann',
  fromRoles: ['approver'],
  fromToken: { groups: ['staff'], agents: [], userId: 'ann' },
  toUser: 'bob',
  approverGroups: ['finance'],
  startsAt: new Date(0),
  endsAt: new Date(Date.now() + 3_600_000),
  createdBy: 'key',
});

it('a burst of 400 over two replicas makes as many as there may be, and all are answered', async () => {
  const asked = Array.from({ length: 400 }, (_, at) => replica(at % 2).create(made('acme'), 20));
  const answers = await Promise.all(asked);
  expect(answers.filter((each) => each !== undefined)).toHaveLength(20);
  const [first, ...others] = await replica(0).list('acme');
  expect(others).toHaveLength(19);
  expect(first?.fromToken).toEqual({ groups: ['staff'], agents: [], userId: 'ann' });
});

it('one tenant that makes many keeps no other one waiting for all of them', async () => {
  const store = replica(0);
  let done = 0;
  const many = Array.from({ length: 300 }, () => store.create(made('busy'), 1_000).then(() => (done += 1)));
  await store.create(made('quiet'), 1_000);
  expect(done).toBeLessThan(300);
  await Promise.all(many);
});
