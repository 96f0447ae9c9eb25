// Connections and flows on a real database: one replica alone refreshes, what is used once is used once, keys are rotated.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AllSecrets } from '../../src/core/agents/all-secrets.ts';
import { TokenRefresh } from '../../src/core/oauth/token-refresh.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { SqlAgentStore } from '../../src/infra/agents/sql-agent-store.ts';
import { FollowedConnections } from '../../src/infra/oauth/followed-connections.ts';
import { SqlConnectionStore } from '../../src/infra/oauth/sql-connection-store.ts';
import { SqlFlowStore } from '../../src/infra/oauth/sql-flow-store.ts';
import type { ConnectionDraft } from '../../src/ports/oauth/connection-store.ts';
import type { FlowDraft } from '../../src/ports/oauth/flow-store.ts';
import { postgresDatabase, type SharedTestDatabase } from '../helpers/databases.ts';
import { HOUR_MS, KEY, markingSealer, RotatingProvider } from '../helpers/oauth-kit.ts';
import { quietLog } from '../helpers/quiet-log.ts';

const PLENTY = { perTenant: 100, inAll: 100 };
const clock = new SystemClock();
const unread = { set: () => undefined, add: () => undefined };

let shared: SharedTestDatabase;
let stores: SqlConnectionStore[];
let flows: SqlFlowStore;
let agents: SqlAgentStore;

beforeAll(async () => {
  shared = await postgresDatabase();
  const databases = [shared.database, shared.another(), shared.another()];
  const opened = await Promise.all(databases.map((each) => each.opened()));
  stores = opened.map(({ db }) => new SqlConnectionStore(db));
  const [{ db }] = opened as [(typeof opened)[number]];
  [flows, agents] = [new SqlFlowStore(db), new SqlAgentStore(db)];
  for (const name of ['desk', 'night'])
    await agents.createAgent({ tenantId: 'acme', name, description: '', createdBy: 'op' }, PLENTY);
});

afterAll(() => shared?.end());

const store = () => stores[0] as SqlConnectionStore;

async function draft(changes: Partial<ConnectionDraft> = {}): Promise<ConnectionDraft> {
  const seal = (field: string, text: string) =>
    markingSealer.seal(text, { tenantId: 'acme', agent: 'desk', tool: 'oauth/id', field });
  return {
    ...KEY,
    providerKey: 'k1',
    scopes: ['read'],
    sealed: {
      access_token: await seal('access_token', 'access-1'),
      refresh_token: await seal('refresh_token', 'refresh-1'),
    },
    expiresInMs: HOUR_MS,
    refreshInMs: HOUR_MS,
    ...changes,
  };
}

const BOSS = { id: 'boss', userId: 'ann' };
let agreed = 0;

/** By a flow of its own, as everything that is agreed to. */
async function connected(changes: Partial<ConnectionDraft> = {}) {
  const made = await draft(changes);
  const flow = `agreed-${(agreed += 1)}`;
  await flows.create(
    {
      ...KEY,
      idHash: flow,
      kind: 'link',
      providerKey: 'k1',
      scopes: [],
      sealed: null,
      createdBy: 'boss',
      intervalMs: 0,
    },
    HOUR_MS,
    100,
  );
  return store().connect(made, BOSS, flow);
}

function replicaOn(each: SqlConnectionStore) {
  const known = new FollowedConnections({ store: each, clock, log: quietLog, unread });
  const outcomes = { with: () => ({ add: () => undefined }) };
  const needs = {
    store: each,
    known,
    sealer: markingSealer,
    clock,
    log: quietLog,
    outcomes,
    random: () => 0.5,
  };
  return { known, refresh: new TokenRefresh(needs) };
}

describe('replicas', () => {
  it('refresh a connection once, however many ask, and all know the new token', async () => {
    const connection = await connected();
    if (connection === undefined) throw new Error('there is no agent');
    const provider = new RotatingProvider();
    const replicas = stores.map(replicaOn);
    for (let round = 1; round <= 3; round += 1) {
      const current = await store().find(KEY);
      if (current === undefined) throw new Error('it is gone');
      const found = await Promise.all(
        replicas.flatMap(({ refresh }) => [
          refresh.refresh(current, provider),
          refresh.refresh(current, provider),
        ]),
      );
      expect(provider.refreshes).toBe(round);
      const versions = new Set(found.map((each) => each?.connection.version));
      expect([versions.size, versions.has(current.version)]).toEqual([1, false]);
    }
  });

  it('know of what another one has changed, taken away and made anew', async () => {
    await connected();
    const { known } = replicaOn(stores[1] as SqlConnectionStore);
    await known.start();
    try {
      expect((await known.load(KEY))?.connection.state).toBe('connected');
      const until = (is: () => boolean) => expect.poll(is, { timeout: 10_000, interval: 50 }).toBe(true);
      await store().delete(KEY);
      await until(() => known.peek(KEY) === null);
      await connected({ scopes: ['more'] });
      await until(() => known.peek(KEY)?.connection.scopes[0] === 'more');
    } finally {
      known.stop();
    }
  });
});

it('an account that was asked for an agent is not that of another agent of its name', async () => {
  const key = { ...KEY, agent: 'once' };
  const declare = () =>
    agents.createAgent({ tenantId: 'acme', name: 'once', description: '', createdBy: 'op' }, PLENTY);
  const ask = { ...key, idHash: 'once', kind: 'link' as const, providerKey: 'k1', scopes: [], sealed: null };
  await declare();
  const flow = await flows.create({ ...ask, createdBy: 'boss', intervalMs: 0 }, HOUR_MS, 100);
  if (flow === 'full' || flow === 'missing') throw new Error(flow);
  await agents.deleteAgent({ tenantId: 'acme', name: 'once' }, undefined);
  await declare();
  expect(await store().connect(await draft(key), BOSS, flow.idHash)).toBeUndefined();
  expect(await store().find(key)).toBeUndefined();
});

describe('a flow', () => {
  let serial = 0;
  const flow = (changes: Partial<FlowDraft> = {}): FlowDraft => ({
    ...KEY,
    idHash: `flow-${(serial += 1)}`,
    kind: 'link',
    providerKey: 'k1',
    scopes: [],
    sealed: null,
    createdBy: 'boss',
    intervalMs: 0,
    ...changes,
  });
  const started = async (state: string) => {
    const made = flow();
    await flows.create(made, 60_000, 100);
    await flows.start(made.idHash, { stateHash: state, browserHash: 'b1', sealed: 'v' });
    return made;
  };

  it('is taken by one of all who come with its state', async () => {
    await started('s1');
    const taken = await Promise.all(Array.from({ length: 8 }, () => flows.take('s1', 'b1', 'id')));
    expect(taken.filter((each) => each !== undefined)).toHaveLength(1);
  });

  it('whose code is being exchanged ends with the account that is disconnected meanwhile', async () => {
    const { idHash } = await started('s-exchanged');
    expect(await flows.take('s-exchanged', 'b1', 'id')).toMatchObject({ idHash });
    expect(await flows.find(idHash)).toBeUndefined();
    expect((await store().delete(KEY)).flows).toBeGreaterThan(0);
    expect(await store().connect(await draft(), BOSS, idHash)).toBeUndefined();
    expect(await store().find(KEY)).toBeUndefined();
  });

  it('connects once, and either all of it is there or nothing, whoever disconnects at the same moment', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { idHash } = await started(`s-race-${round}`);
      const made = await draft();
      const [first, second] = await Promise.all([
        store().connect(made, BOSS, idHash),
        store().connect(made, BOSS, idHash),
        store().delete(KEY),
      ]);
      expect([first, second].filter((each) => each !== undefined).length).toBeLessThanOrEqual(1);
      expect(await store().find(KEY)).toBeUndefined();
    }
  });

  it('and its account are found by the person who began it, and by nobody of that name elsewhere', async () => {
    await flows.create(flow({ createdByUser: 'zoe' }), 60_000, 100);
    expect(await store().ofUser('acme', 'zoe')).toEqual([KEY]);
    expect(await store().ofUser('umbrella', 'zoe')).toEqual([]);
  });

  it("is nobody's in another browser, of another provider, or when its time is over", async () => {
    await started('s2');
    expect(await flows.take('s2', 'b2', 'id')).toBeUndefined();
    expect(await flows.take('s2', 'b1', 'other')).toBeUndefined();
    expect(await flows.take('s2', 'b1', 'id')).toBeDefined();
    const late = flow();
    await flows.create(late, 0, 100);
    expect(await flows.find(late.idHash)).toBeUndefined();
  });

  it('there are so many of a tenant and no more, and none for an agent that is not there', async () => {
    expect(await flows.create(flow({ agent: 'nobody' }), 60_000, 100)).toBe('missing');
    expect(await flows.create(flow(), 60_000, 100)).toMatchObject({ agent: 'desk' });
    expect(await flows.create(flow(), 60_000, 1)).toBe('full');
    expect(await flows.create(flow({ tenantId: 'umbrella' }), 60_000, 1)).toBe('missing');
  });

  it('for an agent that is deleted at this moment is one of an agent that is not there', async () => {
    for (let round = 0; round < 10; round += 1) {
      const gone = { tenantId: 'acme', name: `gone-${round}` };
      await agents.createAgent({ ...gone, description: '', createdBy: 'op' }, PLENTY);
      const makes = Array.from({ length: 5 }, async () =>
        flows.create(flow({ agent: gone.name }), 60_000, 1_000),
      );
      const [, ...made] = await Promise.all([agents.deleteAgent(gone, undefined), ...makes]);
      expect(made.filter((each) => each === 'full')).toEqual([]);
      expect(await flows.create(flow({ agent: gone.name }), 60_000, 1_000)).toBe('missing');
    }
  });

  it('of a device is asked after by one of all who ask within its interval', async () => {
    const device = flow({ kind: 'device', intervalMs: 60_000 });
    await flows.create(device, 60_000, 100);
    const claimed = await Promise.all(Array.from({ length: 5 }, () => flows.claimPoll(device.idHash)));
    expect(claimed.filter(Boolean)).toHaveLength(1);
  });
});

it('tokens are brought over to another key as secrets of tools are, and a refresh under way still stores its own', async () => {
  const by = (key: string) => ({ access_token: `v1.${key}.w.n.a.t`, refresh_token: `v1.${key}.w.n.r.t` });
  const made = await connected({ sealed: by('old') });
  const all = new AllSecrets(agents, store());
  const wrapped = await all.wrappedByOthers('new', 1, undefined);
  const rest = await all.wrappedByOthers('new', 10, wrapped.at(-1));
  expect([...wrapped, ...rest].map(({ tool, field }) => [tool, field])).toEqual([
    ['oauth/id', 'access_token'],
    ['oauth/id', 'refresh_token'],
  ]);
  expect((await all.wrappedBy('old', 10)).map(({ tool, field }) => [tool, field])).toEqual([
    ['oauth/id', 'access_token'],
    ['oauth/id', 'refresh_token'],
  ]);
  expect(await all.wrappedBy('old', 1)).toHaveLength(1);
  expect(await all.wrappedBy('new', 10)).toEqual([]);
  const resealed = [...wrapped, ...rest].map((each) => ({
    ...each,
    resealed: each.sealed.replace('old', 'new'),
  }));
  expect(await all.replaceSealed(resealed)).toBe(2);
  expect(await all.secretsByKey()).toEqual([{ keyId: 'new', secrets: 2 }]);
  expect((await store().find(KEY))?.sealed).toEqual(by('new'));
  const tokens = await draft({ sealed: by('later') });
  expect(await store().renew(KEY, made?.version ?? 0, tokens)).toMatchObject({ sealed: by('later') });
});
