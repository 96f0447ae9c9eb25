// What a server's errors say to a caller: the body of a 4xx or 5xx as of any upstream, and no part of a secret.
import { ProtocolError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { secretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import { failureOf } from './sdk-failures.ts';

const SECRET = 'sk-live-0123456789abcdef0123456789abcdef';
const scrubber = secretScrubber([SECRET]);

const refused = (status: number, text: string | undefined) =>
  failureOf(
    new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${text}`, {
      status,
      text,
    }),
    false,
    scrubber,
  );
const everything = (failure: ReturnType<typeof failureOf>) =>
  [failure.message, JSON.stringify(failure.details), String(failure.cause)].join('\n');

describe('an HTTP error', () => {
  it('says what its JSON says, which stays JSON, and is marked as nobody’s word', () => {
    expect(refused(422, '{"title":"No funds","detail":"Balance is 3.","left":3}')).toMatchObject({
      message: 'The MCP server answered HTTP 422: No funds: Balance is 3.',
      reason: 'HTTP_422',
      partialSideEffects: false,
      details: {
        status: 422,
        upstream: { untrusted: true, body: { title: 'No funds', detail: 'Balance is 3.', left: 3 } },
      },
    });
  });

  it('says what a page says, as text, and nothing where there is no body', () => {
    expect(refused(502, '<html><body><h1>Bad gateway</h1></body></html>')).toMatchObject({
      type: 'TRANSIENT',
      message: 'The MCP server answered HTTP 502: Bad gateway',
      details: { upstream: { untrusted: true, body: 'Bad gateway' } },
    });
    const silent = refused(503, undefined);
    expect(silent.message).toBe('The MCP server answered HTTP 503.');
    expect(silent.details).toEqual({ status: 503 });
  });

  it.each([280, 1_990, 4_000])('with a secret across character %i holds no part of it anywhere', (edge) => {
    for (const body of [
      'x'.repeat(edge - 20) + SECRET + 'y'.repeat(9_000),
      JSON.stringify({ error: 'x'.repeat(edge - 20) + SECRET + 'y'.repeat(9_000) }),
    ])
      // oxfmt-ignore
      expect(everything(refused(500, body))).not.toContain(SECRET.slice(0, 8));
  });
});

it.each([-32_000, -32_603, -32_602])(
  'an error %i of JSON-RPC with a secret across its edge holds no part of it',
  (code) => {
    const text = `${'x'.repeat(1_980)}${SECRET}${'y'.repeat(9_000)}`;
    expect(everything(failureOf(new ProtocolError(code, text), false, scrubber))).not.toContain(
      SECRET.slice(0, 8),
    );
  },
);
