// The http executor against a scripted client: what an upstream's answer becomes.
import { describe, expect, it } from 'vitest';
import { callOf, functionOf, specOf } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { JsonObject } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { functionsOf } from '../../contract/tool/tool-function.ts';
import type { HttpClient, HttpRequest, HttpResponse } from '../../ports/egress/http-client.ts';
import { httpExecutor, type HttpOptions } from './index.ts';
import { HTTP_DEFAULTS } from './settings.ts';
import { retryAfterMsOf } from '../../lib/upstream-error/retry-after.ts';

const NOW = Date.parse('2026-01-30T12:00:00Z');

interface Scripted {
  readonly status?: number;
  readonly headers?: HttpResponse['headers'];
  readonly body?: string;
}

function scriptedClient({ status = 200, headers = {}, body = '{}' }: Scripted, failure?: Error) {
  const requests: HttpRequest[] = [];
  const http: HttpClient = {
    request: async (request) => {
      requests.push(request);
      if (failure !== undefined) throw failure;
      return { status, headers: { 'content-type': 'application/json', ...headers }, body: Buffer.from(body) };
    },
    fetch: () => () => Promise.reject(new Error('no token is asked for here')),
    close: async () => {},
  };
  return { needs: { http, clock: new FakeClock(NOW), settings: HTTP_DEFAULTS }, requests };
}

async function run(
  answer: Scripted,
  options: HttpOptions = { url: 'https://a.example/x' },
  args: JsonObject = {},
) {
  const { needs, requests } = scriptedClient(answer);
  const prepared = await httpExecutor.create(needs).prepare({ function: functionOf(), options });
  const outcome = await prepared
    .execute(callOf({ arguments: args }), () => {})
    .catch((error: unknown) => error);
  return { outcome, request: requests[0] };
}

describe('the upstream of a tool', () => {
  it.each([
    ['https://API.example/x', 'http:api.example:443'],
    ['http://a.example/x', 'http:a.example:80'],
    ['http://[::1]:443/x', 'http:[::1]:443'],
  ])('%s is %s', async (url, upstream) => {
    const { needs } = scriptedClient({});
    const prepared = await httpExecutor.create(needs).prepare({ function: functionOf(), options: { url } });
    expect(prepared.upstream).toBe(upstream);
  });
});

describe('the answer of an upstream', () => {
  it('is the result when it is JSON', async () => {
    const { outcome } = await run({ body: '{"a":[1,null]}' });
    expect(outcome).toEqual({ data: { a: [1, null] } });
  });

  it('is text when its content type says so, in the charset that it names', async () => {
    const { outcome } = await run({
      headers: { 'content-type': 'Text/Plain; charset="utf-8"' },
      body: 'héllo',
    });
    expect(outcome).toEqual({ data: 'héllo' });
  });

  it('is a file when it is neither JSON nor text, as a file among arguments may be given', async () => {
    const headers = { 'content-type': 'image/png', 'content-disposition': 'attachment; filename="../a.png"' };
    expect((await run({ headers, body: '\u0001' })).outcome).toEqual({
      data: { content_type: 'image/png', filename: '.._a.png', size: 1, base64: 'AQ==' },
    });
  });

  it('is null when it is empty', async () => {
    expect((await run({ status: 204, body: '' })).outcome).toEqual({ data: null });
  });

  it.each([
    [{ headers: { 'content-type': 'text/plain; charset=klingon' } }, 'UNKNOWN_CHARSET'],
    [{ body: '<html>' }, 'NOT_JSON'],
    [{ body: `${'['.repeat(65)}${']'.repeat(65)}` }, 'TOO_DEEP'],
  ])('%j is OUTPUT_INVALID, %s', async (answer, reason) => {
    expect((await run(answer)).outcome).toMatchObject({ type: 'OUTPUT_INVALID', reason });
  });

  it('is read as JSON whatever its content type when the tool says json', async () => {
    const options: HttpOptions = { url: 'https://a.example/x', response: 'json' };
    expect((await run({ headers: { 'content-type': 'text/html' }, body: '[1]' }, options)).outcome).toEqual({
      data: [1],
    });
  });

  it('to HEAD is the status', async () => {
    const options: HttpOptions = { url: 'https://a.example/x', method: 'HEAD', success_status: [200, 404] };
    expect((await run({ status: 404, body: '' }, options)).outcome).toEqual({ data: { status: 404 } });
  });
});

describe('the status of an upstream', () => {
  it.each([
    [301, 'PERMANENT', 'REDIRECT_REFUSED', false],
    [400, 'PERMANENT', 'HTTP_400', false],
    [401, 'AUTH', 'HTTP_401', false],
    [403, 'PERMISSION_DENIED', 'HTTP_403', false],
    [404, 'NOT_FOUND', 'HTTP_404', false],
    [408, 'TRANSIENT', 'HTTP_408', true],
    [409, 'CONFLICT', 'HTTP_409', false],
    [425, 'TRANSIENT', 'HTTP_425', true],
    [429, 'RATE_LIMIT', 'HTTP_429', true],
    [500, 'TRANSIENT', 'HTTP_500', true],
    [503, 'TRANSIENT', 'HTTP_503', true],
  ])('%i is %s, the tool’s own answer', async (status, type, reason, retryable) => {
    const { outcome } = await run({ status, body: 'token=s3cret' });
    expect(outcome).toBeInstanceOf(ToolFailure);
    expect(outcome).toMatchObject({ type, reason, retryable, origin: 'tool', details: { status } });
  });

  it('carries what a JSON body says, as JSON, marked as nobody’s word', async () => {
    const body = JSON.stringify({ title: 'No funds', detail: 'Balance is 3.', balance: 3 });
    const headers = { 'content-type': 'application/problem+json' };
    expect((await run({ status: 422, headers, body })).outcome).toMatchObject({
      message: 'The upstream answered HTTP 422: No funds: Balance is 3.',
      details: {
        status: 422,
        upstream: {
          untrusted: true,
          content_type: 'application/problem+json',
          body: { title: 'No funds', detail: 'Balance is 3.', balance: 3 },
        },
      },
    });
  });

  it('carries the beginning of a text, and more of it to the log', async () => {
    const { outcome } = await run({
      status: 500,
      headers: { 'content-type': 'text/html' },
      body: `<html><script>x()</script><h1>Oops</h1>${'x'.repeat(10_000)}</html>`,
    });
    const failure = outcome as ToolFailure & { cause: Error };
    expect(failure.message).toMatch(/^The upstream answered HTTP 500: Oops x+…$/);
    expect(failure.details['upstream']).toMatchObject({
      truncated: true,
      body: expect.stringMatching(/^Oops\nx{100,}…$/),
    });
    expect(JSON.stringify(failure.details).length).toBeLessThan(2_500);
    expect(failure.cause.message).toContain('script');
    expect(failure.cause.message.length).toBeLessThan(2_100);
  });

  it('carries none of its words where the tool says so', async () => {
    const options: HttpOptions = { url: 'https://a.example/x', upstream_errors: 'hide' };
    const failure = (await run({ status: 500, body: '{"message":"inner workings"}' }, options))
      .outcome as ToolFailure;
    expect(`${failure.message}${JSON.stringify(failure.details)}`).not.toContain('inner workings');
  });

  it('never carries a secret of the connection that the upstream echoes, wherever the text is cut', async () => {
    const token = 'tok-'.padEnd(40, 'z');
    for (let filler = 1_960; filler < 2_000; filler += 1) {
      const { needs } = scriptedClient({
        status: 400,
        body: JSON.stringify({
          message: `${'-'.repeat(filler)}${token}`,
          [token]: encodeURIComponent(token),
        }),
      });
      const prepared = await httpExecutor.create(needs).prepare({
        function: functionOf(),
        options: { connection: 'up', path: '/x' },
        connection: {
          name: 'up',
          type: 'http',
          settings: { type: 'http', base_url: 'https://a.example', auth: { type: 'bearer', token } },
        },
      });
      const failure = await Promise.resolve(prepared.execute(callOf(), () => {})).catch(
        (error: unknown) => error as ToolFailure,
      );
      expect(
        JSON.stringify([(failure as ToolFailure).message, (failure as ToolFailure).details]),
      ).not.toContain('tok-z');
    }
  });

  it('is a result when the tool lists it', async () => {
    const options: HttpOptions = { url: 'https://a.example/x', success_status: [404] };
    expect((await run({ status: 404 }, options)).outcome).toEqual({ data: {} });
    expect((await run({ status: 200 }, options)).outcome).toMatchObject({ reason: 'HTTP_200' });
  });

  it('comes with the time to wait', async () => {
    const { outcome } = await run({ status: 429, headers: { 'retry-after': '7' } });
    expect(outcome).toMatchObject({ retryAfterMs: 7000 });
  });

  it('counts more than an error page that is too large', async () => {
    const tooLarge = new ToolFailure('OUTPUT_TOO_LARGE', 'x', { details: { status: 502 } });
    const { needs } = scriptedClient({}, tooLarge);
    const prepared = await httpExecutor
      .create(needs)
      .prepare({ function: functionOf(), options: { url: 'https://a.example' } });
    await expect(prepared.execute(callOf(), () => {})).rejects.toMatchObject({
      type: 'TRANSIENT',
      reason: 'HTTP_502',
    });
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-30T12:00:00Z');

  it.each([
    ['0', 0],
    ['120', 120_000],
    ['999999999', 86_400_000],
    ['Fri, 30 Jan 2026 12:00:05 GMT', 5_000],
    ['Fri, 30 Jan 2026 11:00:00 GMT', 0],
    ['soon', undefined],
  ])('%s is %s ms', (header, ms) => {
    expect(retryAfterMsOf(header, now)).toBe(ms);
  });
});

describe('a tool with actions', () => {
  const [list] = functionsOf(
    specOf({
      actions: [
        { name: 'list', description: 'x', parameters: [{ name: 'q', type: 'string', required: true }] },
      ],
    }),
  );
  const connection = {
    name: 'crm',
    type: 'http',
    settings: { type: 'http', base_url: 'https://crm.example/api' },
  };

  it('sends the request of its action', async () => {
    const { needs, requests } = scriptedClient({});
    const options: HttpOptions = {
      connection: 'crm',
      actions: { list: { path: '/l', query: { q: '{q}' } } },
    };
    const prepared = await httpExecutor
      .create(needs)
      .prepare({ function: list ?? functionOf(), options, connection });
    await prepared.execute(callOf({ arguments: { q: 'a' } }), () => {});
    expect(requests[0]).toMatchObject({ method: 'GET', origin: 'https://crm.example', path: '/api/l?q=a' });
  });

  it('is refused at load when an action has no request', async () => {
    const executor = httpExecutor.create(scriptedClient({}).needs);
    const prepare = async () =>
      executor.prepare({
        function: list ?? functionOf(),
        options: { connection: 'crm', actions: {} },
        connection,
      });
    await expect(prepare).rejects.toThrow('has no request for the action "list"');
  });
});

describe('what the upstream is told of the call', () => {
  const connection = { type: 'http', base_url: 'https://a.example' } as const;

  async function headersTo(settings: object, progress: object) {
    const { needs, requests } = scriptedClient({});
    const prepared = await httpExecutor.create(needs).prepare({
      function: functionOf(),
      options: { connection: 'up', path: '/x' },
      connection: { name: 'up', type: 'http', settings: { ...connection, ...settings } },
    });
    const call = callOf({ deadline: NOW + 1_234 });
    Object.assign(call.progress, progress);
    await prepared.execute(call, () => {});
    return requests[0]?.headers;
  }

  it('is nothing unless its connection says so', async () => {
    const headers = await headersTo({}, { fencingToken: '41' });
    expect(headers).not.toHaveProperty('x-ute-fencing-token');
    expect(headers).not.toHaveProperty('x-request-timeout-ms');
  });

  it('is the time that is left', async () => {
    expect(await headersTo({ propagate_deadline: true }, {})).toMatchObject({
      'x-request-timeout-ms': '1234',
    });
  });

  it('is the fencing token of the slot that it holds, where it holds one', async () => {
    const asked = { propagate_fencing_token: true };
    expect(await headersTo(asked, { fencingToken: '41' })).toMatchObject({ 'x-ute-fencing-token': '41' });
    expect(await headersTo(asked, {})).not.toHaveProperty('x-ute-fencing-token');
  });
});
