// What an AgentStore must keep, on both databases: revisions that never come again, what is in force since when, walls between tenants.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SqlAgentStore } from '../../../src/infra/agents/sql-agent-store.ts';
import type {
  AgentRecord,
  AgentStore,
  AgentToolDraft,
  AgentToolRecord,
} from '../../../src/ports/agents/agent-store.ts';
import { DATABASES } from '../../helpers/databases.ts';

const PLENTY = { perTenant: 1_000, inAll: 1_000 };
const sealedBy = (keyId: string, text = 'x') => `v1.${keyId}.w.n.${text}.t`;

describe.each(DATABASES)('AgentStore on %s', (_name, start) => {
  let store: AgentStore;
  let end: () => Promise<unknown>;
  let serial = 0;

  beforeAll(async () => {
    const database = await start();
    end = () => database.end();
    store = new SqlAgentStore((await database.database.opened()).db);
  });

  afterAll(() => end());

  async function made(tenantId = 'acme', name = `agent-${(serial += 1)}`): Promise<AgentRecord> {
    const agent = await store.createAgent({ tenantId, name, description: 'd', createdBy: 'op' }, PLENTY);
    if (typeof agent === 'string') throw new Error(agent);
    return agent;
  }

  const draftFor = (
    { tenantId, name }: AgentRecord,
    changes: Partial<AgentToolDraft> = {},
  ): AgentToolDraft => ({
    tenantId,
    agent: name,
    tool: 'mail',
    isEnabled: true,
    config: { from: 'a "b"', list: [1, { c: null }] },
    sealed: { key: sealedBy('a') },
    schemaHash: 'h',
    updatedBy: 'op',
    ...changes,
  });

  async function put(draft: AgentToolDraft, ifRevision?: number): Promise<AgentToolRecord> {
    const record = await store.putTool(draft, PLENTY, ifRevision);
    if (typeof record === 'string') throw new Error(record);
    return record;
  }

  it('gives back what was made, to its own tenant alone', async () => {
    const agent = await made();
    expect(agent).toMatchObject({ tenantId: 'acme', description: 'd', createdBy: 'op', updatedBy: 'op' });
    expect(await store.agent('acme', agent.name)).toEqual(agent);
    expect(await store.agent('umbrella', agent.name)).toBeUndefined();
    const draft = draftFor(agent);
    const tool = await put(draft);
    expect(tool).toMatchObject(draft);
    expect(await store.tool({ tenantId: 'acme', agent: agent.name, tool: 'mail' })).toEqual(tool);
    expect(await store.tools('acme', agent.name)).toEqual([tool]);
    expect(await store.tools('umbrella', agent.name)).toEqual([]);
    const foreign = await store.putTool({ ...draft, tenantId: 'umbrella' }, PLENTY, undefined);
    expect(foreign).toBe('missing');
  });

  it('two tenants have agents of one name, and one tenant has not', async () => {
    const agent = await made('acme', 'shared');
    await made('umbrella', 'shared');
    const { tenantId, name } = agent;
    expect(await store.createAgent({ tenantId, name, description: '', createdBy: 'x' }, PLENTY)).toBe(
      'conflict',
    );
  });

  it('no revision comes again, whatever is deleted and made anew; a change that did not happen takes none', async () => {
    const agent = await made();
    const first = await put(draftFor(agent));
    expect(await store.deleteTool(first, undefined)).toBeUndefined();
    const second = await put(draftFor(agent));
    expect(second.revision).toBeGreaterThan(first.revision);
    const before = await store.generation();
    expect(await store.putTool(draftFor(agent), PLENTY, first.revision)).toBe('conflict');
    expect(await store.deleteTool(second, first.revision)).toBe('conflict');
    expect(await store.describeAgent(agent, { description: 'e', updatedBy: 'x' }, 1)).toBe('conflict');
    expect(await store.deleteAgent({ tenantId: 'acme', name: 'nobody' }, undefined)).toBe('missing');
    expect(await store.generation()).toBe(before);
    expect(await store.putTool(draftFor(agent), PLENTY, 0)).toBe('conflict');
    expect((await put(draftFor(agent), second.revision)).revision).toBe(before + 1);
  });

  it('of changes that come at once with one revision, one is made', async () => {
    const agent = await made();
    const { revision } = await put(draftFor(agent));
    const tried = Array.from({ length: 8 }, () => store.putTool(draftFor(agent), PLENTY, revision));
    const done = (await Promise.all(tried)).filter((each) => typeof each !== 'string');
    expect(done).toHaveLength(1);
  });

  it('tells what was written since, and all that there is', async () => {
    const agent = await made();
    const old = await put(draftFor(agent, { tool: 'old' }));
    const { generation } = await store.inForce(0);
    await put(draftFor(agent, { tool: 'new' }));
    const found = await store.inForce(generation);
    expect(found.changed.map(({ tool }) => tool)).toEqual(['new']);
    expect(found.generation).toBe(generation + 1);
    const own = found.tools.filter((each) => each.agent === agent.name).map(({ tool }) => tool);
    expect(own.toSorted()).toEqual(['new', 'old']);
    expect(
      (await store.inForce(0)).changed.find(({ agent: name, tool }) => name === old.agent && tool === 'old'),
    ).toMatchObject({ config: old.config, sealed: old.sealed, revision: old.revision, schemaHash: 'h' });
    await store.deleteAgent(agent, undefined);
    const after = await store.inForce(found.generation);
    expect(after.tools.some((each) => each.agent === agent.name)).toBe(false);
    expect(after.agents.some(({ name }) => name === agent.name)).toBe(false);
  });

  it('lists one tenant by name, page by page, and only those that are asked for', async () => {
    for (const name of ['c', 'a', 'B', 'ä', 'b']) await made('paged', name);
    const query = { tenantId: 'paged', limit: 3, after: undefined, names: undefined };
    const first = await store.agents(query);
    const second = await store.agents({ ...query, after: first.at(-1)?.name });
    expect([...first, ...second].map(({ name }) => name)).toEqual(['B', 'a', 'b', 'c', 'ä']);
    expect((await store.agents({ ...query, names: ['a', 'zz'] })).map(({ name }) => name)).toEqual(['a']);
  });

  it('holds no more than it is told of one tenant, however many come at once, and leaves room for others', async () => {
    const bounds = { perTenant: 2, inAll: 1_000 };
    const create = (tenantId: string, name: string) =>
      store.createAgent({ tenantId, name, description: '', createdBy: 'x' }, bounds);
    const tried = await Promise.all(['a', 'b', 'c', 'd'].map((name) => create('full', name)));
    expect(tried.filter((each) => each === 'full')).toHaveLength(2);
    expect(typeof (await create('roomy', 'a'))).toBe('object');
    expect(
      await store.createAgent(
        { tenantId: 'x', name: 'y', description: '', createdBy: 'x' },
        { perTenant: 9, inAll: 1 },
      ),
    ).toBe('full');
  });

  it('a secret that is wrapped anew is told to replicas, keeps its revision, and never overwrites a newer one', async () => {
    const agent = await made();
    const tool = await put(draftFor(agent, { sealed: { k1: sealedBy('old'), k2: sealedBy('old', 'y') } }));
    const mine = (await store.wrappedByOthers('current', 100, undefined)).filter(
      (each) => each.agent === agent.name,
    );
    expect(mine.map(({ field }) => field)).toEqual(['k1', 'k2']);
    expect((await store.wrappedBy('old', 1)).map(({ field }) => field)).toEqual(['k1']);
    expect(await store.wrappedBy('current', 9)).toEqual([]);
    const [first, second] = mine;
    if (first === undefined || second === undefined) throw new Error('both are there');
    const { generation } = await store.inForce(0);
    const changes = [
      { ...first, resealed: sealedBy('current') },
      { ...second, sealed: 'another by now', resealed: sealedBy('current') },
    ];
    expect(await store.replaceSealed(changes)).toBe(1);
    const { changed } = await store.inForce(generation);
    expect(changed).toMatchObject([
      { revision: tool.revision, sealed: { k1: sealedBy('current'), k2: sealedBy('old', 'y') } },
    ]);
    const counts = new Map((await store.secretsByKey()).map(({ keyId, secrets }) => [keyId, secrets]));
    expect([counts.get('current'), counts.get('old')]).toEqual([1, 1]);
    const rest = await store.wrappedByOthers('current', 100, first);
    expect(rest.filter((each) => each.agent === agent.name).map(({ field }) => field)).toEqual(['k2']);
  });
});
