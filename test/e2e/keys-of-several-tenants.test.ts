// One key for several tenants, by REST and by gRPC: each call is for the one that it names, and for no other.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grpcDoor, restDoor, type Door, type DoorCall } from '../helpers/doors.ts';
import { request, sendTo, type Envelope } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const TOOLS = ['test/fixtures/audit/tools.yaml'];

let gateway: RunningGateway;
let doors: readonly Door[];

beforeAll(async () => {
  gateway = await startGateway({
    tools: TOOLS,
    more: {
      two: { tenants: ['acme', 'umbrella'], roles: ['admin'] },
      any: { tenants: '*', roles: ['agent'] },
    },
  });
  doors = [restDoor(gateway), grpcDoor(gateway)];
});

afterAll(async () => {
  for (const door of doors ?? []) door.close();
  await gateway?.stop();
});

type Said = Pick<DoorCall, 'context' | 'beside'>;
const beside = (tenant: string) => ({ 'x-ute-tenant': tenant });
const context = (tenant: string) => ({ tenant_id: tenant });

/** Of both doors, which have to agree. */
async function told(who: 'two' | 'any' | 'acme', said: Said, tool = 'look'): Promise<string> {
  const key = who === 'acme' ? gateway.keys.agent.text : gateway.key(who).key;
  const answers = await Promise.all(
    doors.map(async (door) => {
      const { ok, type, reason } = await door.call({ tool, argumentsJson: '{}', key, ...said });
      return ok ? 'done' : `${type} ${reason}`;
    }),
  );
  expect(new Set(answers).size).toBe(1);
  return answers[0] ?? '';
}

const REQUIRED = 'VALIDATION TENANT_REQUIRED';
const NOT_ALLOWED = 'PERMISSION_DENIED TENANT_NOT_ALLOWED';

describe('a call', () => {
  it.each([
    ['two', { context: context('acme') }, 'done'],
    ['two', { beside: beside('umbrella') }, 'done'],
    ['two', { context: context('acme'), beside: beside('acme') }, 'done'],
    ['two', { context: context('acme'), beside: beside('umbrella') }, 'VALIDATION TENANTS_DIFFER'],
    ['two', {}, REQUIRED],
    ['two', { context: context('wayne') }, NOT_ALLOWED],
    ['two', { beside: beside('wayne') }, NOT_ALLOWED],
    ['two', { beside: beside('*') }, NOT_ALLOWED],
    ['two', { beside: beside('acme,umbrella') }, 'VALIDATION MALFORMED_CALL'],
    ['any', { context: context('wayne') }, 'done'],
    ['any', { context: context('*') }, NOT_ALLOWED],
    ['any', { context: context('a\u202Eb') }, NOT_ALLOWED],
    ['any', {}, REQUIRED],
    ['acme', { beside: beside('acme') }, 'done'],
    ['acme', {}, 'done'],
    ['acme', { beside: beside('umbrella') }, 'PERMISSION_DENIED TENANT_MISMATCH'],
  ] as const)('with a key of %s that says %j: %s', async (who, said, expected) => {
    expect(await told(who, said)).toBe(expected);
  });

  it('names its tenant as business_id, too', async () => {
    const { key } = gateway.key('two');
    const said = { context: { business_id: 'umbrella' } };
    expect(await doors[0]?.call({ tool: 'look', argumentsJson: '{}', key, ...said })).toMatchObject({
      ok: true,
    });
  });

  it('that cannot be read is told so, though it may have named a tenant', async () => {
    const { key } = gateway.key('two');
    for (const door of doors) {
      const { type, reason } = await door.call({ tool: 'look', argumentsJson: '{"n":', key });
      expect([door.name, type, reason]).toEqual([door.name, 'VALIDATION', 'SYNTAX']);
    }
  });

  it('is in the records and the history of the tenant that it names, and of no other', async () => {
    const { key } = gateway.key('two');
    const session = { session_id: 'of-umbrella', tenant_id: 'umbrella' };
    for (const door of doors) await door.call({ tool: 'change', argumentsJson: '{}', key, context: session });
    const found = async (tenant: string, what: 'calls' | 'records', path: string) => {
      const target = { ...gateway.key('two'), tenant };
      const { body } = await request<Record<string, readonly { session_id: string }[]>>(target, 'GET', path);
      return (body[what] ?? []).filter(({ session_id: id }) => id === 'of-umbrella').length;
    };
    await expect.poll(() => found('umbrella', 'records', '/v1/audit?kind=outcome'), SOON).toBe(2);
    await expect.poll(() => found('umbrella', 'calls', '/v1/calls'), SOON).toBe(2);
    expect(await found('acme', 'records', '/v1/audit?kind=outcome')).toBe(0);
    expect(await found('acme', 'calls', '/v1/calls')).toBe(0);
  });

  it('of one idempotency key runs once for each tenant', async () => {
    const { key } = gateway.key('two');
    const replayed = async (tenant: string) => {
      const said = { 'idempotency-key': 'same', 'x-ute-tenant': tenant };
      const answers = [];
      for (const door of doors)
        answers.push((await door.call({ tool: 'change', argumentsJson: '{}', key, beside: said })).meta);
      return answers.map((meta) => meta?.replayed);
    };
    expect(await replayed('acme')).toEqual([false, true]);
    expect(await replayed('umbrella')).toEqual([false, true]);
  });
});

const SOON = { timeout: 50_000, interval: 50 };

describe('several calls in one request', () => {
  interface Many {
    readonly responses: readonly Envelope[];
  }
  const send = (calls: readonly object[], tenant?: string) =>
    sendTo<Many & Envelope>(
      { ...gateway.key('two'), ...(tenant !== undefined && { tenant }) },
      'POST',
      '/v1/execute',
      { calls },
    );
  const call = (tenant?: string) => ({
    tool: 'look',
    ...(tenant !== undefined && { context: context(tenant) }),
  });
  const outcomes = ({ body }: { body: Many }) =>
    body.responses.map(({ ok, error }) => (ok ? 'done' : error?.reason));

  it('are each for the tenant that they name, or for that of the header', async () => {
    const each = await send([call('acme'), call('umbrella'), call('wayne'), call()]);
    expect(outcomes(each)).toEqual(['done', 'done', 'TENANT_NOT_ALLOWED', 'TENANT_REQUIRED']);
    const all = await send([call(), call('acme'), call('umbrella')], 'acme');
    expect(outcomes(all)).toEqual(['done', 'done', 'TENANTS_DIFFER']);
  });

  it('are refused at once where the header names a tenant that the key does not serve', async () => {
    const { status, body } = await send([call(), call('acme')], 'wayne');
    expect([status, body.error?.reason]).toEqual([403, 'TENANT_NOT_ALLOWED']);
  });
});

it('how a call would be decided is told for the tenant that the header names', async () => {
  const ask = async (tenant: string | undefined, said?: object) => {
    const target = { ...gateway.key('two'), ...(tenant !== undefined && { tenant }) };
    const question = { tool: 'look', ...said };
    const { body } = await sendTo<{ decision?: string; reason?: string }>(
      target,
      'POST',
      '/v1/policy/explain',
      question,
    );
    return body.reason ?? body.decision;
  };
  expect(await ask('acme')).toBe('none');
  expect(await ask('wayne')).toBe('TENANT_NOT_ALLOWED');
  expect(await ask(undefined, { context: context('acme') })).toBe('TENANT_REQUIRED');
  expect(await ask('acme', { context: context('umbrella') })).toBe('TENANTS_DIFFER');
});
