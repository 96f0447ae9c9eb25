// Query parameters that a route does not know: refused by name on every route, before anything is done.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/api/rest/openapi/document.ts';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

/** Probes answer whoever asks, however it asks. */
const PROBES = ['/livez', '/readyz'];

const MANAGED = ROUTES.filter(({ problems }) => problems !== undefined).map(({ method, path }) => ({
  method: method.toUpperCase(),
  path,
}));

interface Refusal {
  readonly detail: string;
  readonly code: string;
  readonly violations: readonly { readonly pointer: string; readonly message: string }[];
}

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({ tools: ['config/tools.yaml'] });
});

afterAll(() => gateway.stop());

async function send(method: string, path: string, query: string, key = gateway.keys.admin.text) {
  const url = path.replaceAll(/\{\w+\}/g, 'calculate_sum') + query;
  const body = method === 'GET' || method === 'DELETE' ? undefined : {};
  return request<Refusal>({ url: gateway.url, key }, method, url, body);
}

describe('a query parameter that is not known', () => {
  it.each(MANAGED)('is refused by name: $method $path', async ({ method, path }) => {
    const { status, body } = await send(method, path, '?user_idd=someone');
    expect([status, body.code]).toEqual([400, 'VALIDATION']);
    expect(body.violations[0]?.pointer).toBe('/user_idd');
    expect(body.violations[0]?.message).toContain('is no query parameter of this route');
  });

  it.each(MANAGED)('is told to nobody without a key: $method $path', async ({ method, path }) => {
    expect((await send(method, path, '?user_idd=someone', 'nobody')).status).toBe(401);
  });

  it.each(['/v1/calls/x', '/v1/calls/x/events'])(
    'is told what it may have meant: %s?userId=',
    async (path) => {
      const { body } = await send('GET', path, '?userId=someone');
      expect(body.detail).toContain('/userId is no query parameter of this route; did you mean "user_id"?');
    },
  );

  it('is refused in the envelope where a call is made, and the call is not', async () => {
    const target = targetOf(gateway, 'agent');
    const args = { arguments: { a: 1, b: 2 } };
    for (const [path, body] of [
      ['/v1/tools/calculate_sum/execute', args],
      ['/v1/execute', { calls: [{ tool: 'calculate_sum', ...args }] }],
    ] as const) {
      const answer = await request<object>(target, 'POST', `${path}?user_id=someone`, body);
      expect(answer).toMatchObject({ status: 400, body: { ok: false, error: { type: 'VALIDATION' } } });
      expect(JSON.stringify(answer.body)).toContain('/user_id is no query parameter of this route');
    }
  });

  it('is refused where a known one is given twice', async () => {
    const { status, body } = await send('GET', '/v1/calls/x', '?user_id=a&user_id=b');
    expect(status).toBe(400);
    expect(body.detail).toContain('/user_id must be given once');
  });

  it('does not make a probe fail', async () => {
    for (const path of PROBES) expect((await fetch(`${gateway.url}${path}?verbose=1`)).status).toBe(200);
  });
});
