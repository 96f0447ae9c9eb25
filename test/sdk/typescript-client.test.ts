// The TypeScript SDK, installed from its package, against a running gateway and a network that loses things.
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as Sdk from '../../sdk/typescript/src/index.ts';
import { imported, installTypescript, run } from './packages.ts';
import { SdkGateway } from './sdk-gateway.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const gateway = new SdkGateway();
let dir: string;
let sdk: typeof Sdk;
let client: Sdk.GatewayClient;
let admin: Sdk.GatewayClient;
let readers = 0;

beforeAll(async () => {
  dir = installTypescript();
  sdk = await imported<typeof Sdk>(dir);
  await gateway.start();
  client = clientOf('agent');
  admin = clientOf('admin');
}, 240_000);

afterAll(async () => {
  await gateway.stop();
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
});

function clientOf(
  name: 'admin' | 'agent' | 'other' | 'reader',
  options: Sdk.ClientOptions = {},
): Sdk.GatewayClient {
  const { url, keys } = gateway.running;
  return new sdk.GatewayClient({ url, apiKey: keys[name].text, ...options });
}

/** A client behind the network that loses things, and what it sent. */
function behind(
  fault: Parameters<SdkGateway['network']['for']>[1],
  times = 1,
  options: Sdk.ClientOptions = {},
) {
  const reader = `reader-${(readers += 1)}`;
  const url = gateway.network.for(reader, fault, times);
  return { client: clientOf('agent', { url, ...options }), seen: () => gateway.network.seen(reader) };
}

const entries = (id: string) => gateway.asked.get(`/entries/${id}`) ?? 0;

describe('the package', () => {
  it('is typed for its user, without a package beside it', () => {
    const source = `import { GatewayClient, RateLimitError, type Tool } from 'unified-tool-executor-sdk';
const client = new GatewayClient({ url: 'http://127.0.0.1:1', apiKey: 'k' });
export const tools: Promise<Tool[]> = client.tools.list({ category: 'utility' });
export const agent = client.request('GET /v1/agents/{agent}', { path: { agent: 'reception' } });
// @ts-expect-error The route needs its parameter.
export const none = client.request('GET /v1/agents/{agent}', {});
export async function sum(): Promise<number> {
  try {
    return (await client.execute<number>('add', { a: 1, b: 2 })).data;
  } catch (error) {
    if (error instanceof RateLimitError) return error.retryAfterMs ?? 0;
    throw error;
  }
}
`;
    writeFileSync(join(dir, 'user.ts'), source);
    const options = [
      '--noEmit',
      '--strict',
      '--target',
      'es2023',
      '--module',
      'nodenext',
      '--lib',
      'es2023,dom',
    ];
    expect(run(join(ROOT, 'node_modules/.bin/tsc'), [...options, '--types', '', 'user.ts'], dir)).toBe('');
  });

  it('brings no other package', () => {
    const listed = JSON.parse(run('npm', ['ls', '--all', '--json'], dir)) as { dependencies: object };
    expect(Object.keys(listed.dependencies)).toEqual(['unified-tool-executor-sdk']);
  });
});

describe('a call', () => {
  it('gives what the tool returned', async () => {
    const { data, meta } = await client.execute<number>('add', { a: 2, b: 3 });
    expect(data).toBe(5);
    expect(meta).toMatchObject({ tool: 'add', replayed: false });
  });

  it('rejects with the class of its error, and says where the arguments do not fit', async () => {
    const error = await client.execute('add', { a: 'two', b: 3 }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(sdk.ValidationError);
    expect(error).toMatchObject({ type: 'VALIDATION', status: 400, retryable: false });
    expect((error as Sdk.ValidationError).violations[0]?.pointer).toBe('/a');
    await expect(client.execute('no_such_tool')).rejects.toBeInstanceOf(sdk.NotFoundError);
    await expect(clientOf('reader').execute('add', { a: 1, b: 1 })).rejects.toBeInstanceOf(
      sdk.PermissionDeniedError,
    );
    await expect(clientOf('agent', { apiKey: 'ute_live_none' }).execute('add')).rejects.toBeInstanceOf(
      sdk.AuthError,
    );
  });

  it('gives the envelope to whoever asks for it, whatever it says', async () => {
    expect(await client.tryExecute('add', { a: 1 })).toMatchObject({
      ok: false,
      error: { type: 'VALIDATION' },
    });
  });

  it('never reaches another route by a name that a model made up', async () => {
    for (const name of ['..', '.', '']) await expect(client.execute(name)).rejects.toThrow(/expected a name/);
    for (const name of ['../execute', '../../v1/keys', '%2e%2e', 'a/b', 'add?x=1#y'])
      await expect(client.execute(name)).rejects.toBeInstanceOf(sdk.NotFoundError);
  });

  it('comes again when its limit lets it', async () => {
    const { client: limited, seen } = behind('none');
    const answers = await Promise.all([1, 2].map((a) => limited.execute('limited', { a, b: 0 })));
    expect(answers.map(({ data }) => data)).toEqual([1, 2]);
    const keys = seen().map(({ key }) => key);
    expect(keys.length).toBeGreaterThan(2);
    // A call that was refused before it ran keeps its key.
    expect(new Set(keys).size).toBe(2);
  });

  it('is not held longer than its caller waits: what the limit says is told at once', async () => {
    await client.execute('seldom', { a: 0, b: 0 });
    const error = client.execute('seldom', { a: 1, b: 1 }, { timeoutMs: 30_000 });
    await expect(error).rejects.toBeInstanceOf(sdk.RateLimitError);
  });

  it('runs once, although its answer was lost, and gives that answer', async () => {
    const { client: unlucky, seen } = behind('drop-answer', 2);
    const { data, meta } = await unlucky.execute('write_entry', { id: 'lost-answer' });
    expect(data).toMatchObject({ times: 1 });
    expect(meta.replayed).toBe(true);
    expect(entries('lost-answer')).toBe(1);
    expect(new Set(seen().map(({ key }) => key)).size).toBe(1);
  });

  it('waits for the end of the try whose answer was lost', async () => {
    const { client: unlucky, seen } = behind('drop-request');
    const key = 'slow-entry-1';
    const first = client.execute('write_slowly', { id: 'slow' }, { idempotencyKey: key });
    await expect.poll(() => gateway.asked.get('/slow/slow')).toBe(1);
    const { data } = await unlucky.execute('write_slowly', { id: 'slow' }, { idempotencyKey: key });
    expect(data).toEqual((await first).data);
    expect(gateway.asked.get('/slow/slow')).toBe(1);
    expect(seen().at(-1)?.prefer).toMatch(/^wait=\d+$/);
  });

  it('is not sent again without a key, once it may have run', async () => {
    const { client: unlucky } = behind('drop-answer', 1, { idempotencyKeys: false });
    await expect(unlucky.execute('write_entry', { id: 'no-key' })).rejects.toBeInstanceOf(
      sdk.ConnectionError,
    );
    expect(entries('no-key')).toBe(1);
    const { client: careless } = behind('drop-answer', 1);
    const options = { idempotencyKey: false, mayRepeat: true } as const;
    expect((await careless.execute('write_entry', { id: 'twice' }, options)).data).toMatchObject({
      times: 2,
    });
  });

  it('comes again over a gateway between that answers 502', async () => {
    const { client: unlucky } = behind('bad-gateway', 2);
    expect((await unlucky.execute('add', { a: 1, b: 1 })).data).toBe(2);
    const { client: never } = behind('bad-gateway', 9, { retry: false });
    await expect(never.execute('add', { a: 1, b: 1 })).rejects.toMatchObject({
      name: 'ConnectionError',
      status: 502,
    });
  });

  it('takes another key where the outcome of the last one is kept, and only for what changed nothing', async () => {
    const { client: patient, seen } = behind('none');
    expect((await patient.execute('read_unstable', { id: 'r' })).data).toMatchObject({ times: 2 });
    const [first, second] = seen();
    expect(second?.key).toBe(`${first?.key}.2`);
    await expect(patient.execute('write_unstable', { id: 'w' })).rejects.toMatchObject({
      retryable: true,
      partialSideEffects: true,
    });
    expect(gateway.asked.get('/unstable/w')).toBe(1);
  });

  it('follows no redirect with its credential', async () => {
    const { client: led } = behind('redirect', 9, { retry: false });
    await expect(led.execute('add', { a: 1, b: 1 })).rejects.toBeInstanceOf(sdk.ConnectionError);
    expect(gateway.network.seen('thief')).toEqual([]);
  });

  it('with a key that is no header is refused at once', async () => {
    const { client: careless, seen } = behind('none');
    const idempotencyKey = 'a\r\nx-ute-tenant: other';
    await expect(careless.execute('add', { a: 1, b: 1 }, { idempotencyKey })).rejects.toBeInstanceOf(
      TypeError,
    );
    expect(seen()).toEqual([]);
  });

  it('ends with its deadline, told to the gateway, and with its signal', async () => {
    const timedOut = client.execute('write_slowly', { id: 'deadline' }, { timeoutMs: 200 });
    await expect(timedOut).rejects.toBeInstanceOf(sdk.CallTimeoutError);
    const abort = new AbortController();
    const cancelled = client.execute('write_slowly', { id: 'abort' }, { signal: abort.signal });
    await expect.poll(() => gateway.asked.get('/slow/abort')).toBe(1);
    abort.abort(new Error('enough'));
    await expect(cancelled).rejects.toThrow('enough');
  });

  it('asks for a new token where the gateway refuses the old one', async () => {
    const asked: boolean[] = [];
    const token = ({ refresh }: { refresh: boolean }) => {
      asked.push(refresh);
      return refresh ? gateway.running.keys.agent.text : 'ute_live_old';
    };
    const { url } = gateway.running;
    const refreshed = new sdk.GatewayClient({ url, token });
    expect((await refreshed.execute('add', { a: 1, b: 1 })).data).toBe(2);
    expect(asked).toEqual([false, true]);
  });

  it('hears that its key was revoked', async () => {
    const made = await admin.request('POST /v1/keys', { body: { name: 'short-lived', roles: ['agent'] } });
    const short = clientOf('agent', { apiKey: made.key });
    expect((await short.execute('add', { a: 1, b: 1 })).data).toBe(2);
    await admin.request('DELETE /v1/keys/{id}', { path: { id: made.id } });
    await expect
      .poll(() =>
        short.execute('add', { a: 1, b: 1 }).then(
          () => 'ok',
          (error: Error) => error.name,
        ),
      )
      .toBe('AuthError');
  });
});

describe('tools', () => {
  it('are listed, page by page and for providers', async () => {
    const tools = await client.tools.list();
    expect(tools.map(({ name }) => name)).toContain('delete_note');
    expect(await client.tools.list({ tag: 'math' })).toMatchObject([{ name: 'add' }]);
    for (const format of [
      'openai',
      'openai-responses',
      'anthropic',
      'gemini',
      'bedrock',
      'mistral',
      'mcp',
    ] as const)
      expect(JSON.stringify(await client.tools.as<unknown>(format))).toContain('write_entry');
    expect(await client.tools.prompt({ tag: 'math' })).toContain('add');
    expect(await client.tools.get('add')).toMatchObject({ read_only: true });
  });
});

describe('a call that runs later', () => {
  it('tells its events and its end, over a stream that is cut', async () => {
    const { client: cut, seen } = behind('cut-stream', 2);
    const call = await cut.start('report', { pages: 6 });
    const told = [];
    for await (const event of call.events()) told.push(event);
    const pages = told.filter(({ event }) => event === 'partial').map(({ data }) => data);
    expect(pages).toEqual([1, 2, 3, 4, 5, 6].map((page) => ({ data: { page } })));
    expect(told.some(({ event }) => event === 'progress')).toBe(true);
    expect(told.at(-1)).toMatchObject({ event: 'result', data: { ok: true, data: { pages: 6 } } });
    const ids = told.map(({ id }) => Number(id));
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
    expect(seen().some(({ lastEventId }) => lastEventId !== undefined)).toBe(true);
  });

  it('is found again by its id, and cancelled', async () => {
    const call = await client.start('report', { pages: 50 });
    expect(await client.accepted(call.id).get()).toMatchObject({ tool: 'report' });
    await client.accepted(call.url).cancel();
    await expect(call.result()).rejects.toBeInstanceOf(sdk.CancelledError);
    await expect(call.cancel()).rejects.toBeInstanceOf(sdk.ConflictError);
    expect(() => client.accepted('/v1/calls/../keys')).toThrow(/call_url/);
  });

  it('is accepted once, although the answer was lost', async () => {
    const { client: unlucky } = behind('drop-answer', 1);
    const call = await unlucky.start('write_entry', { id: 'accepted-once' });
    expect(await call.result()).toMatchObject({ data: { times: 1 } });
    expect(entries('accepted-once')).toBe(1);
  });
});

describe('an approval', () => {
  it('is asked for, and waited for', async () => {
    await expect(client.execute('delete_note', { id: 'a' })).rejects.toBeInstanceOf(
      sdk.ConfirmationRequiredError,
    );
    const waits = client.execute(
      'delete_note',
      { id: 'b' },
      {
        waitForApproval: true,
        approvalPollMs: 50,
        onApproval: ({ approvalId = '', approvalUrl }) => {
          expect(approvalUrl).toBe(`${gateway.running.url}/v1/approvals/${approvalId}`);
          void admin.approvals.approve(approvalId, 'fine');
        },
      },
    );
    expect((await waits).data).toEqual({ id: 'b' });
  });

  it('that is rejected ends the wait with what the approver said', async () => {
    const waits = client.execute(
      'delete_note',
      { id: 'c' },
      {
        waitForApproval: true,
        approvalPollMs: 50,
        onApproval: ({ approvalId = '' }) => void admin.approvals.reject(approvalId, 'not this one'),
      },
    );
    await expect(waits).rejects.toMatchObject({ name: 'PermissionDeniedError', reason: 'APPROVAL_REJECTED' });
  });

  it('is waited for no longer than said', async () => {
    const waits = client.execute('delete_note', { id: 'd' }, { waitForApproval: 200, approvalPollMs: 50 });
    await expect(waits).rejects.toBeInstanceOf(sdk.ConfirmationRequiredError);
  });

  it('that expires ends the wait, by the clock of the gateway', async () => {
    const waits = client.execute('delete_soon', { id: 'x' }, { waitForApproval: true, approvalPollMs: 50 });
    await expect(waits).rejects.toMatchObject({ reason: 'APPROVAL_EXPIRED' });
  });

  it('is heard of by approvers, and runs a call that waits by itself', async () => {
    const stop = new AbortController();
    const heard = admin.approvals.events({ signal: stop.signal });
    const next = heard.next();
    const call = await client.start('delete_note', { id: 'e' });
    expect(call.approvalUrl).toBe(`${gateway.running.url}/v1/approvals/${call.approvalId}`);
    const { value } = await next;
    expect(value).toMatchObject({ event: 'asked', approval: { id: call.approvalId } });
    await admin.approvals.approve(call.approvalId ?? '');
    expect((await call.result()).data).toEqual({ id: 'e' });
    expect(await admin.approvals.decided(call.approvalId ?? '')).toMatchObject({ status: 'used' });
    stop.abort();
    await heard.return(undefined);
  });
});

describe('figures of calls', () => {
  it('are those of the tenant, of the time and tool that were asked for, and suggest what nobody calls', async () => {
    for (const _ of [1, 2, 3]) await client.tryExecute('add', { a: 'one' });
    const { analytics } = clientOf('admin');
    const asked = { from: new Date(Date.now() - 3_600_000).toISOString(), tool: 'add' };
    await expect
      .poll(async () => (await analytics.get(asked)).failures, { timeout: 20_000 })
      .toContainEqual(expect.objectContaining({ tool: 'add', error_type: 'VALIDATION' }));
    const { tools, tenant } = await analytics.get(asked);
    expect(tools.map(({ tool }) => tool)).toEqual(['add']);
    const { suggestions, tenant: whose } = await analytics.suggestions({ agent_id: 'nobody', top: 2 });
    expect(whose).toBe(tenant);
    expect(suggestions.map(({ kind }) => kind)).toEqual(['unused', 'unused']);
    await expect(clientOf('other').analytics.get(asked)).rejects.toBeInstanceOf(sdk.PermissionDeniedError);
  });

  it('of a parameter that there is none of are refused', async () => {
    await expect(clientOf('admin').analytics.get({ top: 501 })).rejects.toBeInstanceOf(sdk.ValidationError);
  });
});

describe('a session', () => {
  it('holds its calls together, and is over when it is ended', async () => {
    const session = await client.sessions.create({ agent_id: 'front', user_id: 'ann', mode: 'text' });
    expect((await session.client.execute('add', { a: 1, b: 1 })).data).toBe(2);
    expect(await session.beginTurn()).toMatchObject({ turn_id: '2' });
    expect(await session.end()).toMatchObject({ state: 'ended' });
    await expect(session.client.execute('add', { a: 1, b: 1 })).rejects.toBeInstanceOf(
      sdk.SessionInactiveError,
    );
  });

  it('of another tenant is none', async () => {
    const { id } = await client.sessions.create();
    await expect(clientOf('other').sessions.open(id).get()).rejects.toBeInstanceOf(sdk.NotFoundError);
  });
});
