// What the MCP door holds of requests: strangers learn nothing of sessions, and no entry outlives its request.
import fastify from 'fastify';
import { afterEach, expect, it, vi } from 'vitest';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { McpDoor } from './mcp-door.ts';
import { Exchange } from './protocol/exchange.ts';
import { newSession } from './protocol/legacy-session.ts';
import { McpServers } from './protocol/mcp-servers.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Only `Bearer good` is known. */
function doorOf() {
  const authenticate = (credential: unknown) =>
    JSON.stringify(credential).includes('good')
      ? Promise.resolve({ tenantId: 'acme' })
      : Promise.reject(toolFailure('CREDENTIAL_INVALID', 'This is no good.'));
  const caller = {
    execute: async ({ credential }: { credential: unknown }) => ({
      ok: false,
      meta: {},
      error: JSON.stringify(credential).includes('good')
        ? { type: 'VALIDATION', origin: 'gateway', reason: 'MALFORMED_CALL', message: 'malformed' }
        : { type: 'AUTH', origin: 'gateway', reason: 'CREDENTIAL_INVALID', message: 'stranger' },
    }),
  };
  const door = new McpDoor({
    authenticator: { authenticate },
    caller,
    catalog: { onChange: () => () => undefined, snapshot: () => ({ tools: [] }) },
    toolsets: { find: () => undefined, onChange: () => () => undefined },
    terms: { issuers: [] },
    telemetry: { metrics: recordingMetrics(), log: recordingLog() },
  } as never);
  const app = fastify();
  // As the gateway hands it over: what is JSON is read by the door.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post('/mcp', (request, reply) => door.serve(request, reply));
  const post = (token: string, session: string, message: object) =>
    app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'mcp-session-id': session,
      },
      payload: { jsonrpc: '2.0', ...message },
    });
  return {
    post,
    close: () => {
      door.close();
      return app.close();
    },
  };
}

it.each(['tools/list', 'tools/call', 'ping'])(
  'an unknown session is told to those with a credential alone: %s',
  async (method) => {
    const { post, close } = doorOf();
    const message = { id: 1, method, params: { name: 'add', arguments: {} } };
    const [stranger, known] = [await post('bad', 'made-up', message), await post('good', 'made-up', message)];
    expect([stranger.statusCode, known.statusCode]).toEqual([401, 404]);
    expect(known.json()).toMatchObject({ id: 1, error: { message: expect.stringContaining('initialize') } });
    await close();
  },
);

it('a request that fails inside is no longer among those under way', async () => {
  const { post, close } = doorOf();
  const session = newSession({});
  vi.spyOn(McpServers.prototype, 'deliver').mockRejectedValueOnce(new Error('no server'));
  expect((await post('good', session, { id: 7, method: 'ping' })).statusCode).toBe(500);
  const cancel = vi.spyOn(Exchange.prototype, 'cancel');
  const params = { requestId: 7 };
  expect((await post('good', session, { method: 'notifications/cancelled', params })).statusCode).toBe(202);
  expect(cancel).not.toHaveBeenCalled();
  await close();
});
