// D10, what the first design notes named for later: analytics, suggestions, multi-step plans and tools that are dropped in, through a running gateway.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../helpers/open-database.ts';
import { callTool, request, sendTo, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const TOOLS = `
tools:
  - name: weather
    description: The weather of a city
    tool_type: javascript
    input_schema: { type: object, properties: { city: { type: string } }, required: [city], additionalProperties: false }
    implementation_config: { handler: ./weather.js, trusted: true }
    metadata: { category: retrieval, cost: 0.5 }
  - name: pack_list
    description: What to take along
    tool_type: javascript
    input_schema: { type: object, properties: { sky: { type: string } }, additionalProperties: false }
    implementation_config: { handler: ./weather.js, export: pack, trusted: true }
    metadata: { permissions: ['travel:use'] }
  - name: hidden
    description: Other tools alone call it
    tool_type: javascript
    input_schema: { type: object }
    implementation_config: { handler: ./weather.js, trusted: true }
    metadata: { internal: true }
  - name: propose_plan
    description: Propose a plan, steps over tools, which is a tool of its own once a human has approved it
    tool_type: plan
    input_schema: &plan
      type: object
      properties:
        name: { type: string }
        description: { type: string }
        input_schema: { type: object }
        steps: { type: array, items: { type: object } }
        result: { type: string }
      required: [name, description, steps]
      additionalProperties: false
    implementation_config: { does: propose, max_steps: 3, max_plans: 2 }
    metadata: { requires_approval: true }
  - name: propose_unasked
    description: Nobody is asked
    tool_type: plan
    input_schema: *plan
    implementation_config: { does: propose }
    extensions: { approval: { mode: never } }
    metadata: { requires_approval: true }
  - name: withdraw_plan
    description: Take a plan away
    tool_type: plan
    input_schema: { type: object, properties: { plan: { type: string } }, required: [plan], additionalProperties: false }
    implementation_config: { does: withdraw }
  - name: never
    description: Nobody calls it
    tool_type: javascript
    input_schema: { type: object }
    implementation_config: { handler: ./weather.js, trusted: true }
`;
const WEATHER = `export function execute({ city }) {
  if (city === 'nowhere') throw new Error('no such city');
  return { city, sky: 'clear' };
}
export function pack({ sky }) {
  return sky === 'clear' ? ['sunglasses'] : ['umbrella'];
}
`;

let dir: string;
let gateway: RunningGateway;
let platform: RestTarget;
let acme: RestTarget;
let umbrella: RestTarget;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'tools.yaml'), TOOLS);
  writeFileSync(join(dir, 'weather.js'), WEATHER);
  mkdirSync(join(dir, 'custom_tools'));
  gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    more: {
      platform: { roles: ['platform_admin'] },
      acme: { tenant: 'acme', roles: ['admin'], user: 'ann' },
      umbrella: { tenant: 'umbrella', roles: ['admin'], user: 'uma' },
      planner: { tenant: 'acme', roles: ['agent', 'traveller'], agents: ['desk'] },
      second: { tenant: 'acme', roles: ['admin'], user: 'ann' },
      bob: { tenant: 'acme', roles: ['admin'], user: 'bob' },
    },
    roles: { traveller: ['travel:use'] },
    settings: {
      loaders: [
        { type: 'yaml-file', paths: [join(dir, 'tools.yaml')] },
        { type: 'postgres' },
        { type: 'tool-folder', path: join(dir, 'custom_tools'), serve: 'confirmed' },
      ],
      approvals: { allow_self_approval: true },
    },
  });
  await openDatabase(gateway);
  [platform, acme, umbrella] = [gateway.key('platform'), gateway.key('acme'), gateway.key('umbrella')];
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

interface Figures {
  readonly totals: { readonly calls: number };
  readonly tools: readonly { readonly tool: string }[];
  readonly never_called: readonly string[];
}
const analytics = (who: RestTarget, query = '') => request<Figures>(who, 'GET', `/v1/analytics${query}`);

describe('tool analytics', () => {
  it('which tools are used most, what they cost, what fails and why, and what is never called', async () => {
    for (const city of ['Oslo', 'Bergen', 'nowhere']) await callTool(acme, 'weather', { city });
    await callTool(acme, 'weather', {});
    await callTool(acme, 'weathr', {});
    const { status, body } = await analytics(acme);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      tenant: 'acme',
      complete: true,
      totals: { calls: 5, succeeded: 2, failed: 3, ran: 3, cost: 1.5 },
      tools: [{ tool: 'weather', calls: 4, succeeded: 2, failed: 2, ran: 3, cost: 1.5 }],
      agents: [{ agent_id: '', calls: 5 }],
      days: [{ calls: 5 }],
      never_called: ['never', 'pack_list', 'propose_plan', 'propose_unasked', 'withdraw_plan'],
    });
    expect(body).toMatchObject({
      failures: expect.arrayContaining([
        expect.objectContaining({ tool: 'weather', error_type: 'PERMANENT', reason: 'EXCEPTION', calls: 1 }),
        expect.objectContaining({ tool: 'weather', error_type: 'VALIDATION', reason: 'SCHEMA_MISMATCH' }),
        expect.objectContaining({ tool: '', error_type: 'NOT_FOUND', reason: 'TOOL_NOT_FOUND', calls: 1 }),
      ]) as unknown,
    });
  });

  it('are those of the own tenant; the platform asks for any, and has to name one', async () => {
    expect((await analytics(umbrella)).body.totals.calls).toBe(0);
    expect(await analytics(umbrella, '?tenant=acme')).toMatchObject({
      status: 403,
      body: { reason: 'TENANT_MISMATCH' },
    });
    const named = { ...umbrella, tenant: 'acme' };
    expect((await analytics(named)).status).toBe(403);
    expect(await analytics(platform)).toMatchObject({ status: 400, body: { reason: 'TENANT_REQUIRED' } });
    expect((await analytics(platform, '?tenant=acme')).body.totals.calls).toBe(5);
    expect((await analytics(targetOf(gateway, 'agent'))).status).toBe(403);
  });

  it('of a time that is too long, or of a parameter that there is none of, are refused', async () => {
    const long = await analytics(acme, '?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z');
    expect(long.status).toBe(400);
    expect((await analytics(acme, '?form=2026-01-01T00:00:00Z')).status).toBe(400);
    const early = await analytics(acme, '?from=0001-01-01T00:00:00Z&to=0001-01-31T00:00:00Z');
    expect(early).toMatchObject({ status: 200, body: { totals: { calls: 0 } } });
    const late = await analytics(acme, '?from=9999-12-01T00:00:00Z&to=9999-12-31T00:00:00Z');
    expect(late).toMatchObject({ status: 200, body: { totals: { calls: 0 } } });
  });
});

describe('tool suggestions', () => {
  interface Suggested {
    readonly suggestions: readonly { readonly kind: string; readonly tools: readonly string[] }[];
  }
  const suggested = async (who: RestTarget, query = '') =>
    (await request<Suggested>(who, 'GET', `/v1/suggestions${query}`)).body.suggestions;
  const of = (kind: string, all: Suggested['suggestions']) =>
    all.filter((each) => each.kind === kind).map(({ tools }) => tools.join(' '));

  it('what sessions call next is offered, what they call together is a plan, what fails is to be mended', async () => {
    for (const session of ['s1', 's2', 's3']) {
      const inSession = (tool: string, args: object) =>
        request(acme, 'POST', `/v1/tools/${tool}/execute`, {
          arguments: args,
          context: { session_id: session },
        });
      await inSession('weather', { city: 'Oslo' });
      await inSession('pack_list', { sky: 'clear' });
      await inSession('weather', { town: 'Oslo' });
    }
    const all = await suggested(acme);
    expect(of('next', all)).toEqual(['weather pack_list']);
    expect(of('plan', all)).toEqual(['weather pack_list']);
    expect(of('mend', all)).toContain('weather');
    expect(of('unused', all)).toEqual(['never', 'propose_plan', 'propose_unasked', 'withdraw_plan']);
    expect(of('next', await suggested(acme, '?tool=pack_list'))).toEqual([]);
    expect(of('plan', await suggested(acme, '?tool=pack_list'))).toEqual(['weather pack_list']);
  });

  it('are from the calls of the own tenant alone', async () => {
    expect((await suggested(umbrella)).filter(({ kind }) => kind !== 'unused')).toEqual([]);
    expect((await request(umbrella, 'GET', '/v1/suggestions?tenant=acme')).status).toBe(403);
    expect((await request(targetOf(gateway, 'agent'), 'GET', '/v1/suggestions')).status).toBe(403);
  });
});

const PLAN = {
  name: 'trip',
  description: 'What to take along to a city',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  steps: [
    { id: 'weather', tool: 'weather', arguments: { city: { $: 'input.city' } } },
    { id: 'things', tool: 'pack_list', arguments: { sky: { $: 'steps.weather.sky' } } },
  ],
  result: '{city: input.city, take: steps.things}',
};

interface Proposed {
  readonly error?: {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
    readonly details: { readonly approval_id: string; readonly confirmation_token: string };
  };
  readonly ok: boolean;
  readonly data?: { readonly tool: string; readonly in_force: boolean };
}

describe('multi-step plans', () => {
  const planner = () => gateway.key('planner');
  const propose = (plan: object, token?: string, who = planner()) =>
    request<Proposed>(who, 'POST', '/v1/tools/propose_plan/execute', {
      arguments: plan,
      ...(token !== undefined && { context: { confirmation_token: token } }),
    });
  const decide = (who: RestTarget, id: string) =>
    request<{ reason?: string }>(who, 'POST', `/v1/approvals/${id}/decision`, { decision: 'approve' });
  /** Proposed by an agent and approved by ann. */
  async function kept(plan: object): Promise<string> {
    const { details } = (await propose(plan)).body.error!;
    expect((await decide(acme, details.approval_id)).status).toBe(200);
    const done = await propose(plan, details.confirmation_token);
    expect(done.body).toMatchObject({ ok: true, data: { in_force: true } });
    return done.body.data!.tool;
  }
  const listed = async (who: RestTarget) =>
    (await request<{ tools: { name: string }[] }>(who, 'GET', '/v1/tools?tag=plan')).body.tools.map(
      ({ name }) => name,
    );

  it('an agent proposes one, a human sees its steps and approves it, and it is a tool of that tenant alone', async () => {
    const asked = await propose(PLAN);
    expect(asked).toMatchObject({ status: 202, body: { error: { type: 'CONFIRMATION_REQUIRED' } } });
    const { approval_id: id, confirmation_token: token } = asked.body.error!.details;
    expect(await listed(acme)).toEqual([]);
    expect((await propose(PLAN, token)).body.error?.reason).toBe('APPROVAL_PENDING');
    const seen = await request<{ would: object }>(acme, 'GET', `/v1/approvals/${id}`);
    expect(seen.body).toMatchObject({
      tool_changed: false,
      arguments: PLAN,
      would: {
        tenant: 'acme',
        steps: [
          { id: 'weather', tool: 'weather', read_only: true },
          { id: 'things', tool: 'pack_list', permissions: ['travel:use'] },
        ],
      },
    });
    expect((await decide(acme, id)).status).toBe(200);
    const { tool } = (await propose(PLAN, token)).body.data!;
    expect(tool).toMatch(/^plan_trip_[0-9a-f]{10}$/);
    expect(await callTool(planner(), tool, { city: 'Oslo' })).toMatchObject({
      status: 200,
      body: { ok: true, data: { city: 'Oslo', take: ['sunglasses'] } },
    });
    expect(await listed(acme)).toEqual([tool]);
    expect(await listed(umbrella)).toEqual([]);
    const others = await callTool(umbrella, tool, { city: 'Oslo' });
    const nobodys = await callTool(umbrella, `${tool}0`, { city: 'Oslo' });
    expect(others.status).toBe(404);
    expect(others.body.error).toEqual(nobodys.body.error);
    expect((await request(umbrella, 'GET', `/v1/tools/${tool}`)).status).toBe(404);
    // It lends nobody a right.
    const weak = await callTool(targetOf(gateway, 'agent'), tool, { city: 'Oslo' });
    expect(weak.body.error).toMatchObject({ type: 'PERMISSION_DENIED' });
    const { body } = await request<{ records: { kind: string; tool: string; outcome: string }[] }>(
      acme,
      'GET',
      '/v1/audit?tool=propose_plan',
    );
    const told = body.records.map(({ kind, outcome }) => `${kind} ${outcome}`);
    expect(told).toEqual(
      expect.arrayContaining(['outcome ok', 'approval approved', 'outcome CONFIRMATION_REQUIRED']),
    );
    await callTool(acme, 'withdraw_plan', { plan: tool });
  });

  it('proposed as a call that waits, it is kept by itself once it is approved', async () => {
    const plan = { ...PLAN, name: 'waits' };
    const asked = await sendTo<{ meta: { approval_id: string; call_url: string } }>(
      planner(),
      'POST',
      '/v1/tools/propose_plan/execute',
      { arguments: plan },
      { prefer: 'respond-async' },
    );
    const { approval_id: id, call_url: url } = asked.body.meta;
    expect((await decide(acme, id)).status).toBe(200);
    const call = await vi.waitUntil(
      async () => {
        const { body } = await request<{ finished_at: string | null; result: Proposed }>(
          planner(),
          'GET',
          url,
        );
        return body.finished_at === null ? undefined : body.result;
      },
      { timeout: 20_000, interval: 50 },
    );
    expect(call).toMatchObject({ ok: true, data: { in_force: true } });
    expect((await callTool(acme, 'withdraw_plan', { plan: call?.data?.tool })).body.ok).toBe(true);
  });

  it('where the rules for approvals ask nobody, no plan is kept', async () => {
    const { body } = await request<Proposed>(planner(), 'POST', '/v1/tools/propose_unasked/execute', {
      arguments: PLAN,
    });
    expect(body.error).toMatchObject({ type: 'PERMISSION_DENIED', reason: 'PLAN_NOT_APPROVED' });
  });

  it('nobody approves their own, by the same key or another of theirs, whatever the settings allow for other tools', async () => {
    const { details } = (await propose(PLAN, undefined, acme)).body.error!;
    expect((await decide(acme, details.approval_id)).body.reason).toBe('SELF_APPROVAL');
    expect((await decide(gateway.key('second'), details.approval_id)).body.reason).toBe('SELF_APPROVAL');
    expect((await decide(targetOf(gateway), details.approval_id)).body.reason).toBe('APPROVER_UNKNOWN');
    expect((await decide(umbrella, details.approval_id)).status).toBe(404);
    expect((await decide(gateway.key('bob'), details.approval_id)).status).toBe(200);
  });

  it.each([
    ['a tool that there is not', [{ id: 'a', tool: 'nothing' }], 'there is no tool "nothing"'],
    ['a tool that other tools alone call', [{ id: 'a', tool: 'hidden' }], 'there is no tool "hidden"'],
    ['the tool that proposes plans', [{ id: 'a', tool: 'propose_plan' }], 'a plan calls no plan'],
    ['a step that is none', [{ id: 'a', tool: 'never' }, { id: 'b' }], ''],
    ['a step that refers to what is not there', [{ id: 'a', tool: 'never', when: 'steps.b' }], 'steps'],
    ['too many steps', ['a', 'b', 'c', 'd'].map((id) => ({ id, tool: 'never' })), 'at most 3 steps'],
    [
      'too many steps in a group',
      [{ parallel: ['a', 'b', 'c', 'd'].map((id) => ({ id, tool: 'never' })) }],
      'at most 3 steps',
    ],
  ])('%s is refused before a human is asked', async (_, steps, message) => {
    const { body } = await propose({ ...PLAN, result: undefined, steps });
    expect(body.error).toMatchObject({ type: 'VALIDATION', reason: 'PLAN_INVALID' });
    expect(body.error?.message).toContain(message);
  });

  it.each([
    [{ name: '../x' }, '/name'],
    [{ name: 'constructor()' }, '/name'],
    [{ description: 'good\u202eplan' }, 'hidden characters'],
    [{ description: 'x'.repeat(1_001) }, '/description'],
    [{ input_schema: { type: 'object', properties: { city: { type: 'strin' } } } }, 'input_schema'],
    [{ steps: [{ id: 'a', tool: 'never', arguments: { x: 'y'.repeat(40_000) } }] }, '32768'],
  ])('a plan with %j is refused before a human is asked', async (change, message) => {
    const { body } = await propose({ ...PLAN, ...change });
    expect(body.error).toMatchObject({ type: 'VALIDATION' });
    expect(body.error?.message).toContain(message);
  });

  it('of a tool that the proposer may not call is refused as of one that is not there', async () => {
    const { body } = await propose(PLAN, undefined, targetOf(gateway, 'agent'));
    expect(body.error?.message).toContain('there is no tool "pack_list"');
  });

  it('calls no other plan, and there are no more of them than the tenant may have', async () => {
    const first = await kept(PLAN);
    const { body } = await propose({
      ...PLAN,
      steps: [{ id: 'a', tool: first, arguments: { city: 'Oslo' } }],
      result: undefined,
    });
    expect(body.error?.message).toContain('a plan calls no plan');
    const second = await kept({ ...PLAN, name: 'other' });
    expect((await propose({ ...PLAN, name: 'third' })).body.error?.reason).toBe('PLANS_FULL');
    expect((await callTool(umbrella, 'withdraw_plan', { plan: second })).body.error?.type).toBe('NOT_FOUND');
    expect((await callTool(acme, 'withdraw_plan', { plan: 'weather' })).body.error).toMatchObject({
      type: 'NOT_FOUND',
      partial_side_effects: false,
    });
    for (const plan of [first, second])
      expect((await callTool(acme, 'withdraw_plan', { plan })).body).toMatchObject({ ok: true });
    expect((await callTool(planner(), first, { city: 'Oslo' })).status).toBe(404);
  });

  it('is refused once a tool of its steps is another: after the approval, and in every call of the plan', async () => {
    const tool = await kept(PLAN);
    const { details } = (await propose({ ...PLAN, name: 'late' })).body.error!;
    expect((await decide(acme, details.approval_id)).status).toBe(200);
    writeFileSync(join(dir, 'weather.js'), WEATHER.replace("'sunglasses'", "'everything that you own'"));
    await request(platform, 'POST', '/v1/admin/reload');
    const late = await propose({ ...PLAN, name: 'late' }, details.confirmation_token);
    expect(late.body.error).toMatchObject({ reason: 'APPROVAL_STALE' });
    const refused = await callTool(planner(), tool, { city: 'Oslo' });
    expect(refused.body.error).toMatchObject({ type: 'UNAVAILABLE', reason: 'PLAN_OUTDATED' });
    writeFileSync(join(dir, 'weather.js'), WEATHER);
    await request(platform, 'POST', '/v1/admin/reload');
    await callTool(acme, 'withdraw_plan', { plan: tool });
  });
});

describe('tools from data/custom_tools/', () => {
  interface Definition {
    readonly tool: string;
    readonly state: string;
    readonly seen_hash: string | null;
    readonly definition: { readonly handler: string } | null;
  }
  const drop = (name: string, handler: string) => {
    const folder = join(dir, 'custom_tools', name);
    mkdirSync(folder, { recursive: true });
    const jsonSchema = {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
      additionalProperties: false,
    };
    writeFileSync(join(folder, 'handler.py'), handler);
    writeFileSync(join(folder, 'schema.json'), JSON.stringify({ description: 'Counts words', jsonSchema }));
  };
  const waiting = (tool: string, state: string) =>
    vi.waitUntil(
      async () => {
        const { body } = await request<{ definitions: Definition[] }>(
          platform,
          'GET',
          `/v1/admin/definitions?state=${state}`,
        );
        return body.definitions.find((each) => each.tool === tool);
      },
      { timeout: 20_000, interval: 100 },
    );
  const approve = (who: RestTarget, tool: string, hash: string | null | undefined) =>
    request<{ reloaded?: boolean }>(who, 'POST', `/v1/admin/definitions/${tool}/approve`, { hash });
  const COUNT = 'def execute(text):\n    return {"words": len(text.split())}\n';

  it('one is taken at run time once the operator has confirmed it, runs in the sandbox, and a change of it waits', async () => {
    drop('count', COUNT);
    const seen = await waiting('custom_count', 'new');
    expect(seen?.definition?.handler).toBe(COUNT);
    expect((await callTool(acme, 'custom_count', { text: 'a b' })).status).toBe(404);
    expect((await approve(acme, 'custom_count', seen?.seen_hash)).status).toBe(403);
    expect(await approve(platform, 'custom_count', seen?.seen_hash)).toMatchObject({
      status: 200,
      body: { reloaded: true },
    });
    const hostile = '")); __import__("os")._exit(1) #';
    expect((await callTool(acme, 'custom_count', { text: `two words ${hostile}` })).body).toMatchObject({
      ok: true,
      data: { words: 5 },
    });
    drop('count', 'import os\ndef execute(text):\n    return os.listdir("/etc")\n');
    const changed = await waiting('custom_count', 'changed');
    expect((await callTool(acme, 'custom_count', { text: 'two words' })).body.data).toEqual({ words: 2 });
    expect((await approve(platform, 'custom_count', seen?.seen_hash)).status).toBe(409);
    expect((await approve(platform, 'custom_count', changed?.seen_hash)).status).toBe(200);
    const listed = await callTool(acme, 'custom_count', { text: '' });
    expect(JSON.stringify(listed.body.data ?? '')).not.toContain('shadow');
  });

  it('one whose schema the gateway refuses is left out with its problem, and all others are loaded', async () => {
    drop('wrong', COUNT);
    const schema = { description: 'Takes a list', jsonSchema: { type: 'array' } };
    writeFileSync(join(dir, 'custom_tools', 'wrong', 'schema.json'), JSON.stringify(schema));
    drop('right', COUNT);
    const hashes = await Promise.all(
      ['custom_wrong', 'custom_right'].map(async (tool) => (await waiting(tool, 'new'))?.seen_hash),
    );
    expect((await approve(platform, 'custom_wrong', hashes[0])).body).toMatchObject({ reloaded: false });
    expect((await approve(platform, 'custom_right', hashes[1])).body).toMatchObject({ reloaded: true });
    const { body } = await request(platform, 'POST', '/v1/admin/reload');
    expect(body).toMatchObject({
      ok: true,
      left_out: [{ tool: 'custom_wrong', path: 'input_schema.type' }],
    });
    expect((await callTool(acme, 'custom_right', { text: 'a b' })).body).toMatchObject({ ok: true });
    expect((await callTool(acme, 'custom_wrong', { text: 'a b' })).status).toBe(404);
  });

  it('what it raises is told to nobody but the log', async () => {
    drop('fails', 'def execute(text):\n    raise ValueError("secret " + text)\n');
    const seen = await waiting('custom_fails', 'new');
    await approve(platform, 'custom_fails', seen?.seen_hash);
    const { body } = await callTool(acme, 'custom_fails', { text: 'x' });
    expect(body.error).toMatchObject({ type: 'PERMANENT', reason: 'EXCEPTION' });
    expect(JSON.stringify(body)).not.toContain('secret');
  });
});
