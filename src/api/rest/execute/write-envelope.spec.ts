// The envelope on the wire: snake_case, the status and headers of its error, nothing of the cause.
import type { FastifyReply } from 'fastify';
import { describe, expect, it } from 'vitest';
import { callOf, functionOf } from '../../../../test/helpers/call-kit.ts';
import { ToolFailure, type FailureDetails } from '../../../contract/call/tool-failure.ts';
import type { ErrorType } from '../../../contract/call/error-types.ts';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import { refusalOf, successOf } from '../../../core/settle.ts';
import { sendEnvelope } from './write-envelope.ts';

async function sent(response: ToolResponse) {
  const headers: Record<string, string> = {};
  const out = { status: 0, text: '' };
  const reply = {
    header: (name: string, value: string) => ((headers[name] = value), reply),
    code: (status: number) => ((out.status = status), reply),
    send: (text: string) => ((out.text = text), reply),
  };
  await sendEnvelope(reply as unknown as FastifyReply, Promise.resolve(response));
  return {
    status: out.status,
    headers,
    body: JSON.parse(out.text) as Record<string, unknown>,
    text: out.text,
  };
}

const refused = (type: ErrorType, extra: FailureDetails = {}) =>
  sent(refusalOf(callOf(), new ToolFailure(type, 'No.', extra)));

describe('sendEnvelope', () => {
  it('writes a success with its data, intents and meta', async () => {
    const call = callOf({ function: functionOf({ name: 'greet' }) });
    const { status, headers, body } = await sent(successOf(call, { data: { hi: 'grüße' } }, 1000));
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(body).toMatchObject({
      ok: true,
      data: { hi: 'grüße' },
      intents: [],
      meta: { schema_version: '1.0.0', call_id: 'call-1', tool: 'greet', attempts: 0 },
    });
  });

  it('writes a refusal with every field of its error', async () => {
    const { body } = await refused('RATE_LIMIT', {
      reason: 'TENANT_RATE',
      retryAfterMs: 1500,
      details: { scope: 'tenant' },
    });
    expect(body).toMatchObject({
      ok: false,
      error: {
        type: 'RATE_LIMIT',
        message: 'No.',
        retryable: true,
        reason: 'TENANT_RATE',
        origin: 'gateway',
        retry_after_ms: 1500,
        details: { scope: 'tenant' },
      },
    });
    expect(body).not.toHaveProperty('data');
  });

  it.each([
    ['VALIDATION', {}, 400],
    ['AUTH', {}, 401],
    ['NOT_FOUND', {}, 404],
    ['TIMEOUT', {}, 504],
    ['INTERNAL', {}, 500],
    ['CONFIRMATION_REQUIRED', {}, 202],
    ['AUTH', { origin: 'tool' }, 200],
    ['PERMANENT', {}, 200],
    ['OUTPUT_INVALID', {}, 502],
  ] as const)('%s with %j is HTTP %i', async (type, extra, status) => {
    // oxfmt-ignore
    expect((await refused(type, extra)).status).toBe(status);
  });

  it('tells when to come back in whole seconds, rounded up, at least one', async () => {
    expect((await refused('RATE_LIMIT', { retryAfterMs: 1 })).headers['retry-after']).toBe('1');
    expect((await refused('RATE_LIMIT', { retryAfterMs: 1001 })).headers['retry-after']).toBe('2');
    expect((await refused('RATE_LIMIT')).headers).not.toHaveProperty('retry-after');
  });

  it("asks for a credential only when the gateway's own is missing", async () => {
    expect((await refused('AUTH')).headers['www-authenticate']).toBe('Bearer');
    expect((await refused('AUTH', { origin: 'tool' })).headers).not.toHaveProperty('www-authenticate');
  });

  it('points to the approval that a call waits for', async () => {
    const { headers } = await refused('CONFIRMATION_REQUIRED', {
      details: { approval_url: '/v1/approvals/7' },
    });
    expect(headers['location']).toBe('/v1/approvals/7');
  });

  it('never sends the cause', async () => {
    const { text } = await refused('INTERNAL', { cause: new Error('password=hunter2') });
    expect(text).not.toContain('hunter2');
    expect((await sent(refusalOf(callOf(), new Error('password=hunter2')))).text).not.toContain('hunter2');
  });

  it('writes rate limits as the standard headers', async () => {
    const state = { name: 'tenant', limit: 10, remaining: 3, resetMs: 1200, periodMs: 60_000 };
    const { headers } = await sent({
      ...successOf(callOf(), { data: null }, 1000),
      rateLimits: [state],
    });
    expect(headers).toMatchObject({
      'ratelimit-policy': '"tenant";q=10;w=60',
      ratelimit: '"tenant";r=3;t=2',
    });
  });

  it('rejects where it cannot be sent: the request is answered as one that failed', async () => {
    const broken = {
      header: () => {
        throw new TypeError('Invalid character in header content');
      },
    };
    const sending = sendEnvelope(
      broken as unknown as FastifyReply,
      Promise.resolve(refusalOf(callOf(), new ToolFailure('NOT_FOUND', 'No.'))),
    );
    await expect(sending).rejects.toThrow('Invalid character');
  });
});
