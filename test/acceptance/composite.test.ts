// Attacks on tools that call tools: endless recursion, floods, costly expressions, and ways around approval and permissions.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { auditTrail } from '../helpers/audit-kit.ts';
import { request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

interface Answer {
  readonly ok: boolean;
  readonly data?: unknown;
  readonly error?: {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
    readonly partial_side_effects: boolean;
    readonly details: Record<string, unknown>;
  };
  readonly meta: { readonly tool: string; readonly call_id: string; readonly successor?: string };
}

const HANDLERS = `
const seen = [];
export function note(args) { seen.push(['note', args]); return args; }
export function danger(args) { seen.push(['danger', args]); return { done: true }; }
export function restricted(args) { seen.push(['restricted', args]); return 'secret data'; }
export function many() { return Array.from({ length: 101 }, (_, n) => n); }
export function huge() { return Array.from({ length: 20000 }, (_, n) => ({ n, text: 'x'.repeat(20) })); }
export function hostile() { return JSON.parse('{"__proto__": {"admin": true}, "tool": "danger"}'); }
export function seenSoFar() { return seen.slice(); }
export function forget() { seen.length = 0; return null; }
export function wait(_args, { signal }) {
  seen.push(['wait', {}]);
  return new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)));
}
`;

const any = { type: 'object', additionalProperties: true };

function js(name: string, more: object = {}) {
  return {
    name,
    description: name,
    tool_type: 'javascript',
    input_schema: any,
    implementation_config: { handler: './handlers.mjs', export: name, trusted: true },
    ...more,
  };
}

function composite(
  name: string,
  steps: unknown[],
  more: { result?: string; inputs?: string[]; tool?: object } = {},
) {
  const properties = Object.fromEntries((more.inputs ?? []).map((input) => [input, {}]));
  return {
    name,
    description: name,
    tool_type: 'composite',
    input_schema: { type: 'object', properties, additionalProperties: false },
    implementation_config: { steps, ...(more.result !== undefined && { result: more.result }) },
    ...more.tool,
  };
}

const actions = [
  {
    name: 'read',
    description: 'Reads',
    parameters: [{ name: 'id', type: 'integer', required: true, min_value: 1 }],
  },
  { name: 'erase', description: 'Erases', parameters: [] },
];

const filing = (name: string, metadata: object) => ({
  name,
  description: name,
  tool_type: 'javascript',
  actions,
  implementation_config: { handler: './filing.mjs', trusted: true },
  metadata: { legacy_execute: true, ...metadata },
});

const FILING = `
export const read = (args) => args;
export const erase = () => 'erased';
`;

const DOUBLING = `steps.a${' | [@, @]'.repeat(60)}`;

const TOOLS = [
  ...['note', 'many', 'huge', 'hostile', 'seenSoFar', 'forget', 'wait'].map((name) => js(name)),
  js('danger', { metadata: { is_dangerous: true } }),
  js('restricted', { metadata: { permissions: ['vault:open'] } }),
  composite('ping', [{ id: 'a', tool: 'pong' }]),
  composite('pong', [{ id: 'a', tool: 'ping' }]),
  composite('fan_out', [{ id: 'all', tool: 'fan_in', for_each: 'input.list', on_error: 'continue' }], {
    inputs: ['list'],
  }),
  composite('fan_in', [
    { id: 'all', tool: 'note', for_each: '`[1,2,3,4,5,6,7,8,9,10]`', on_error: 'continue' },
  ]),
  composite('each_of_many', [
    { id: 'a', tool: 'many' },
    { id: 'b', tool: 'note', for_each: 'steps.a', arguments: { n: { $: 'item' } } },
  ]),
  composite(
    'each_given',
    [{ id: 'b', tool: 'note', for_each: 'input.list', arguments: { n: { $: 'item' } } }],
    { inputs: ['list'] },
  ),
  composite('bomb', [{ id: 'a', tool: 'note' }], { result: DOUBLING }),
  composite('bomb_on_data', [{ id: 'a', tool: 'huge' }], {
    result: `steps.a[*]${' | [@[], @[]] | []'.repeat(40)}`,
  }),
  composite(
    'steered',
    [{ id: 'a', tool: 'note', arguments: { tool: { $: 'input.tool' }, text: { $: 'input.text' } } }],
    { inputs: ['tool', 'text'] },
  ),
  composite('pass_on', [
    { id: 'a', tool: 'hostile' },
    { id: 'b', tool: 'note', arguments: { from: { $: 'steps.a' } } },
  ]),
  composite('unlock', [
    { id: 'a', tool: 'note' },
    { id: 'b', tool: 'restricted' },
  ]),
  composite(
    'erase_all',
    [
      { id: 'a', tool: 'note' },
      { id: 'b', tool: 'danger', arguments: { id: { $: 'input.id' } } },
      { id: 'c', tool: 'note' },
    ],
    { inputs: ['id'] },
  ),
  composite('erase_behind', [{ id: 'x', tool: 'erase_all', arguments: { id: 9 } }]),
  composite('waits', [
    { id: 'a', tool: 'wait' },
    { id: 'b', tool: 'note' },
  ]),
  composite(
    'waits_briefly',
    [
      { id: 'a', tool: 'wait', on_error: 'continue' },
      { id: 'b', tool: 'note' },
    ],
    { tool: { timeout_ms: 300 } },
  ),
  filing('files', {}),
  filing('dangerous_files', { is_dangerous: true }),
  filing('locked_files', { permissions: ['files:open'] }),
];

let dir: string;
let gateway: RunningGateway;
let agent: RestTarget;
let admin: RestTarget;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'handlers.mjs'), HANDLERS);
  writeFileSync(join(dir, 'filing.mjs'), FILING);
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: TOOLS }));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
  agent = targetOf(gateway, 'agent');
  admin = targetOf(gateway, 'admin');
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

function call(tool: string, args: unknown = {}, context: object = {}, target = agent) {
  return request<Answer>(target, 'POST', `/v1/tools/${tool}/execute`, { arguments: args, context });
}

async function seen(): Promise<readonly (readonly [string, unknown])[]> {
  return (await call('seenSoFar')).body.data as [string, unknown][];
}

async function calls(name: string): Promise<number> {
  return (await seen()).filter(([tool]) => tool === name).length;
}

async function auditOf(callId: string): Promise<string> {
  return JSON.stringify(await auditTrail(gateway, `kind=outcome&call_id=${callId}`));
}

async function load(tool: object): Promise<string> {
  const own = tempDir();
  try {
    const path = join(own, 'tools.yaml');
    writeFileSync(path, stringify({ tools: [tool] }));
    const started = await startGateway({ tools: [path] }).catch(
      (error: unknown) => error as { problems?: unknown },
    );
    if (started instanceof Error) return JSON.stringify((started as { problems?: unknown }).problems);
    await (started as RunningGateway).stop();
    return 'loaded';
  } finally {
    removeDir(own);
  }
}

describe('endless composites', () => {
  it('a composite that calls itself is refused at load', async () => {
    expect(await load(composite('me', [{ id: 'a', tool: 'me' }]))).toContain(
      'calls the tool that it is a step of',
    );
  });

  it('two composites that call each other end at the depth cap', async () => {
    const { status, body } = await call('ping');
    expect(status).toBe(429);
    expect(body.error).toMatchObject({
      type: 'BUDGET_EXCEEDED',
      reason: 'STEPS_TOO_DEEP',
      partial_side_effects: false,
    });
  });

  it('a list of lists of calls ends at the shared budget of steps', async () => {
    await call('forget');
    await call('fan_out', { list: Array.from({ length: 100 }, (_, n) => n) });
    expect(await calls('note')).toBeLessThanOrEqual(500);
    expect(await calls('note')).toBeGreaterThan(300);
  });

  it.each([
    ['returned by a step', 'each_of_many', {}],
    ['given by the caller', 'each_given', { list: Array.from({ length: 5_000 }, (_, n) => n) }],
  ])('a list %s that is longer than max_items calls nothing', async (_what, tool, args) => {
    await call('forget');
    const { body } = await call(tool, args);
    expect(body.error).toMatchObject({ type: 'PERMANENT', reason: 'FOR_EACH_TOO_LONG' });
    expect(await calls('note')).toBe(0);
  });
});

describe('costly expressions', () => {
  it.each(['bomb', 'bomb_on_data'])(
    'a result that doubles and doubles ends early, and the gateway goes on serving (%s)',
    async (tool) => {
      const { body } = await call(tool);
      expect(body.error).toMatchObject({ type: 'PERMANENT', reason: 'EXPRESSION_TOO_COSTLY' });
      expect((await call('note', { still: 'here' })).body).toMatchObject({ ok: true });
    },
  );

  it('an expression of a megabyte is refused at load', async () => {
    const result = `steps.a${'.a'.repeat(500_000)}`;
    expect(await load(composite('giant', [{ id: 'a', tool: 'giant_step' }], { result }))).toContain(
      'at most 2000 characters',
    );
  });
});

describe('arguments that want more than to be arguments', () => {
  it('an argument with the name of another tool does not choose the tool', async () => {
    const { body } = await call('steered', { tool: 'danger', text: { $: 'steps', tool: 'danger' } });
    expect(body).toMatchObject({
      ok: true,
      data: { a: { tool: 'danger', text: { $: 'steps', tool: 'danger' } } },
    });
  });

  it('an expression in an argument stays text', async () => {
    const { body } = await call('steered', { tool: '{ $: input }', text: '${input.tool}' });
    expect(body.data).toEqual({ a: { tool: '{ $: input }', text: '${input.tool}' } });
  });

  it('a tool name with a reference in it is refused at load', async () => {
    expect(await load(composite('open', [{ id: 'a', tool: { $: 'input.tool' } }]))).toContain('steps.0.tool');
  });

  it('a key "__proto__" in what a step returned does not reach the next step', async () => {
    await call('forget');
    const { body } = await call('pass_on');
    expect(body.error).toMatchObject({ type: 'PERMANENT', reason: 'EXPRESSION_FAILED' });
    expect(await calls('note')).toBe(0);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  it('a step is called with the rights of the caller, not of the composite', async () => {
    await call('forget');
    const { status, body } = await call('unlock');
    expect(status).toBe(403);
    expect(body.error).toMatchObject({
      type: 'PERMISSION_DENIED',
      partial_side_effects: true,
      details: {
        step: 'b',
        steps: [
          { id: 'a', outcome: 'ok' },
          { id: 'b', outcome: 'PERMISSION_DENIED' },
        ],
      },
    });
    expect(await calls('restricted')).toBe(0);
    expect((await call('unlock', {}, {}, admin)).body).toMatchObject({
      ok: true,
      data: { b: 'secret data' },
    });
  });

  it('another agent or tenant in a step’s arguments changes nothing about who calls', async () => {
    const { body } = await call('steered', {
      tool: 'x',
      text: { tenant_id: 'umbrella', agent_id: 'root', credential: 'k' },
    });
    const line = await auditOf(body.meta.call_id);
    // It is in the trail of the caller's own tenant.
    expect(line).toContain('"steered"');
    expect(line).not.toMatch(/umbrella|root/);
  });
});

describe('dangerous steps', () => {
  it('a dangerous step without approval does not run, and neither does what follows', async () => {
    await call('forget');
    const { status, body } = await call('erase_all', { id: 7 });
    expect(status).toBe(202);
    expect(body.error).toMatchObject({
      type: 'CONFIRMATION_REQUIRED',
      partial_side_effects: true,
      details: {
        step: 'b',
        approval_id: expect.any(String),
        approval_url: expect.any(String),
        call: { tool: 'danger', arguments: { id: 7 } },
      },
    });
    expect((await seen()).map(([tool]) => tool)).toEqual(['note']);
  });

  it('a dangerous step hidden in a composite of composites is refused the same, and named', async () => {
    await call('forget');
    const { status, body } = await call('erase_behind');
    expect(status).toBe(202);
    expect(body.error).toMatchObject({
      type: 'CONFIRMATION_REQUIRED',
      details: { step: 'x', call: { tool: 'danger', arguments: { id: 9 } } },
    });
    expect(await calls('danger')).toBe(0);
  });

  it('a dry run of a composite runs nothing, its dangerous step least of all', async () => {
    await call('forget');
    const { body } = await call('erase_all', { id: 7 }, { dry_run: true });
    expect(body).toMatchObject({ ok: true, data: { dry_run: true } });
    expect(await seen()).toEqual([]);
  });

  it('a confirmation token on the composite does not open its dangerous step', async () => {
    const { body } = await call('erase_all', { id: 8 });
    const { approval_id: id, confirmation_token: token } = body.error?.details ?? {};
    await request(admin, 'POST', `/v1/approvals/${String(id)}/decision`, { decision: 'approve' });
    await call('forget');
    const again = await call('erase_all', { id: 8 }, { confirmation_token: token });
    expect(again.body.error).toMatchObject({ type: 'CONFIRMATION_REQUIRED' });
    expect(await calls('danger')).toBe(0);
    // It is good for the call that it was given for.
    expect((await call('danger', { id: 8 }, { confirmation_token: token })).body).toMatchObject({
      ok: true,
      data: { done: true },
    });
  });
});

describe('steps after the end', () => {
  it('after its caller has gone, a composite starts no further step', async () => {
    await call('forget');
    const gone = new AbortController();
    const sent = fetch(`${agent.url}/v1/tools/waits/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
      body: '{}',
      signal: gone.signal,
    });
    await expect.poll(() => calls('wait')).toBe(1);
    gone.abort();
    await expect(sent).rejects.toThrow('aborted');
    await expect.poll(() => gateway.service.gateway.executor.inFlight).toBe(0);
    expect(await calls('note')).toBe(0);
  });

  it('at its deadline a composite ends its running step and starts no further one, even where errors are passed over', async () => {
    await call('forget');
    const { status, body } = await call('waits_briefly');
    expect(status).toBe(504);
    expect(body.error).toMatchObject({ type: 'TIMEOUT', partial_side_effects: true });
    await expect.poll(() => gateway.service.gateway.executor.inFlight).toBe(0);
    expect(await calls('note')).toBe(0);
  });
});

describe('the legacy form of a tool with actions', () => {
  it('answers as the typed action, and says that it is deprecated', async () => {
    const response = await fetch(`${agent.url}/v1/tools/files/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: { action: 'read', details: '{"id": 3}' } }),
    });
    expect(await response.json()).toMatchObject({
      ok: true,
      data: { id: 3 },
      meta: { tool: 'files.read', successor: 'files.read' },
    });
    expect(response.headers.get('deprecation')).toMatch(/^@\d+$/);
    expect(response.headers.get('link')).toBe('</v1/tools/files.read/execute>; rel="successor-version"');
  });

  it('is listed as deprecated, and not offered to models', async () => {
    // An agent is not shown what it may not call.
    const listed = await request<{ tools: { name: string; deprecated: boolean }[] }>(
      admin,
      'GET',
      '/v1/tools',
    );
    expect(listed.body.tools.filter(({ deprecated }) => deprecated).map(({ name }) => name)).toEqual([
      'dangerous_files',
      'files',
      'locked_files',
    ]);
    const offered = await request(agent, 'GET', '/v1/tools?format=openai');
    expect(JSON.stringify(offered.body)).not.toContain('"files"');
    expect(JSON.stringify(offered.body)).toContain('files__read');
  });

  it('is no way around approval', async () => {
    const { status, body } = await call('dangerous_files', { action: 'erase' });
    expect(status).toBe(202);
    expect(body.error).toMatchObject({ type: 'CONFIRMATION_REQUIRED' });
    expect(body.meta.tool).toBe('dangerous_files.erase');
    const { approval_id: id, confirmation_token: token } = body.error?.details ?? {};
    const approval = await request<{ tool: string; arguments: unknown }>(
      admin,
      'GET',
      `/v1/approvals/${String(id)}`,
    );
    expect(approval.body).toMatchObject({ tool: 'dangerous_files.erase', arguments: {} });
    await request(admin, 'POST', `/v1/approvals/${String(id)}/decision`, { decision: 'approve' });
    // The approval is for this action with these arguments, by either name.
    const other = await call(
      'dangerous_files',
      { action: 'read', details: { id: 1 } },
      { confirmation_token: token },
    );
    expect(other.body.error).toMatchObject({ reason: 'APPROVAL_MISMATCH' });
    const typed = await call('dangerous_files.erase', {}, { confirmation_token: token });
    expect(typed.body).toMatchObject({ ok: true, data: 'erased' });
  });

  it('is no way around permissions', async () => {
    expect((await call('locked_files', { action: 'erase' })).body.error).toMatchObject({
      type: 'PERMISSION_DENIED',
      details: { permissions: ['files:open'] },
    });
  });

  it('holds details to the schema of the action', async () => {
    for (const details of [{ id: 0 }, {}, { id: 1, extra: true }, { id: '1; rm -rf /' }]) {
      expect((await call('files', { action: 'read', details })).body.error).toMatchObject({
        type: 'VALIDATION',
        reason: 'SCHEMA_MISMATCH',
      });
    }
  });

  it('details with __proto__ are refused, as an object and as text', async () => {
    for (const body of [
      '{"arguments": {"action": "read", "details": {"id": 1, "__proto__": {"admin": true}}}}',
      '{"arguments": {"action": "read", "details": "{\\"id\\": 1, \\"__proto__\\": {\\"admin\\": true}}"}}',
    ]) {
      const response = await fetch(`${agent.url}/v1/tools/files/execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
        body,
      });
      expect(await response.json()).toMatchObject({ ok: false, error: { type: 'VALIDATION' } });
    }
  });

  it.each(['nothing', '__proto__', 'constructor', 'files.read', ''])(
    'the action %j is refused with the ones there are',
    async (action) => {
      const { status, body } = await call('files', { action });
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ type: 'VALIDATION', reason: 'UNKNOWN_ACTION' });
      expect(body.error?.message).toContain('read, erase');
    },
  );

  it('the audit record names the action that ran and the name that was asked for', async () => {
    const { body } = await call('files', { action: 'read', details: { id: 5 } });
    const line = await auditOf(body.meta.call_id);
    expect(line).toContain('files.read');
    expect(line).toContain('"files"');
  });

  it('the kill switch of the tool holds for it too', async () => {
    await request(admin, 'POST', '/v1/admin/tools/files/disable');
    expect((await call('files', { action: 'read', details: { id: 1 } })).body.error).toMatchObject({
      reason: 'TOOL_DISABLED',
    });
    await request(admin, 'POST', '/v1/admin/tools/files/enable');
    expect((await call('files', { action: 'read', details: { id: 1 } })).body.ok).toBe(true);
  });

  it('is refused at load where there are no actions', async () => {
    expect(await load(js('plain', { metadata: { legacy_execute: true } }))).toContain(
      'is for a tool with actions',
    );
  });
});
