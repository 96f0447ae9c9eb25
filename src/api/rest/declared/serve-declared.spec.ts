// Declared routes beside the gateway's own: they hide none, and take no request that could mean two paths.
import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { callOf, recordingMetrics, specOf } from '../../../../test/helpers/call-kit.ts';
import type { ToolRequest } from '../../../contract/call/tool-call.ts';
import type { ToolRoute } from '../../../contract/tool/tool-route.ts';
import { snapshotOf } from '../../../registry/tool-spec-registry.ts';
import { successOf } from '../../../core/settle.ts';
import { KnownRoutes } from '../server/known-routes.ts';
import { takeJsonBodies } from '../server/json-body.ts';
import { serveDeclared } from './serve-declared.ts';

const route = (path: string, method: ToolRoute['method'] = 'POST'): ToolRoute => ({
  method,
  path,
  answer: 'data',
});

/** Routes that load would refuse are served by none the less, were they ever there. */
async function doorOf(...paths: ToolRoute[]) {
  const asked: ToolRequest[] = [];
  let routes = paths;
  const inputSchema = {
    type: 'object',
    properties: { id: { type: 'string' }, count: { type: 'integer' }, tags: { type: 'array' } },
  };
  let snapshot = snapshotOf([specOf({ name: 'find', inputSchema, routes })], []);
  const server = fastify();
  const known = new KnownRoutes(server);
  takeJsonBodies(server, 1_000);
  serveDeclared(server, known, {
    caller: {
      execute: async (request) => {
        asked.push(request);
        return successOf(callOf(), { data: 'of the tool' }, 1_000);
      },
    },
    catalog: { snapshot: () => snapshot },
    metrics: recordingMetrics(),
  });
  server.get('/v1/tools/:name', () => 'of the gateway');
  const send = async (
    method: 'GET' | 'POST' | 'DELETE' | 'HEAD' | 'OPTIONS',
    url: string,
    body?: unknown,
  ) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await server.inject({
      method,
      url,
      ...(body !== undefined && { headers, payload: JSON.stringify(body) }),
    });
    return [answer.statusCode, answer.body] as const;
  };
  const reload = (...next: ToolRoute[]) => {
    routes = next;
    snapshot = snapshotOf([specOf({ name: 'find', inputSchema, routes })], []);
  };
  return { send, asked, reload };
}

describe('declared routes', () => {
  it('hide none of the gateway’s own paths, of any method', async () => {
    const { send, asked } = await doorOf(route('/v1/tools/{id}', 'GET'), route('/v1/tools/{id}'));
    expect(await send('GET', '/v1/tools/a')).toEqual([200, 'of the gateway']);
    expect((await send('POST', '/v1/tools/a', {}))[0]).toBe(404);
    expect(asked).toEqual([]);
  });

  it('take arguments from the path and the query, or the body', async () => {
    const { send, asked } = await doorOf(route('/o/{id}', 'GET'), route('/o/{id}'));
    expect(await send('GET', '/o/a%20b?count=3&tags=x&tags=y')).toEqual([200, '"of the tool"']);
    expect((await send('POST', '/o/7', { count: 4 }))[0]).toBe(200);
    expect(asked.map((request) => request.arguments)).toEqual([
      { id: 'a b', count: 3, tags: ['x', 'y'] },
      { id: '7', count: 4 },
    ]);
    expect(asked.every(({ refusal }) => refusal === undefined)).toBe(true);
  });

  it('hand what cannot be read to the pipeline, which refuses it', async () => {
    const { send, asked } = await doorOf(route('/o/{id}'));
    await send('POST', '/o/7', { id: '8' });
    await send('POST', '/o/7?count=1', {});
    await send('POST', '/o/7', ['a']);
    expect(asked.map(({ tool, refusal }) => [tool, refusal?.type])).toEqual(
      Array.from({ length: 3 }, () => ['find', 'VALIDATION']),
    );
  });

  it.each([
    '/o/..',
    '/o/%2e%2e',
    '/o/a%2Fb',
    '/o/a%5cb',
    '/o//',
    '/o/7/',
    '//o/7',
    '/O/7',
    '/o/%00',
    '/o/7;x/y',
  ])('do not take %s', async (path) => {
    const { send, asked } = await doorOf(route('/o/{id}', 'GET'));
    const [status] = await send('GET', path);
    expect([status, asked]).toEqual([status === 400 ? 400 : 404, []]);
  });

  it('are told what methods there are, and answer no other', async () => {
    const { send, asked } = await doorOf(route('/o/{id}'));
    expect((await send('DELETE', '/o/7'))[0]).toBe(405);
    expect((await send('OPTIONS', '/o/7'))[0]).toBe(405);
    expect(asked).toEqual([]);
  });

  it('follow the tools', async () => {
    const { send, reload } = await doorOf(route('/o/{id}'));
    reload(route('/p/{id}'));
    expect([(await send('POST', '/o/7', {}))[0], (await send('POST', '/p/7', {}))[0]]).toEqual([404, 200]);
  });
});
