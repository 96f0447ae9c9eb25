// EraServer: each era is answered by its own revision of the protocol, with what this door offers in it, whoever asks.
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { ANY_PARAMS } from './any-params.ts';
import { capabilitiesOf, EraServer, LEGACY_VERSIONS, MODERN_VERSION, NAME } from './era-server.ts';
import type { Answer, Era, Exchange } from './exchange.ts';

type Handler = (params: unknown) => unknown;

async function serving(era: Era, handler: Handler = () => ({ tools: [] })) {
  const server = new EraServer(era, capabilitiesOf(era));
  server.setRequestHandler('tools/list', { params: ANY_PARAMS }, (params) => handler(params) as never);
  await server.open();
  return (method: string, params?: object, id: string | number = 1) =>
    new Promise<Answer>((resolve) => {
      const exchange = { asked: { era }, status: 200, answer: resolve, notify: () => undefined };
      const request = { jsonrpc: '2.0', id, method, ...(params && { params }) } as JSONRPCRequest;
      server.door.deliver(request, exchange as unknown as Exchange);
    });
}

/** What a client of 2026-07-28 says of itself in each request. */
const MODERN = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
};
const hello = (protocolVersion: string) => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

describe('the older era', () => {
  it.each([...LEGACY_VERSIONS])('takes a client of %s at its word', async (version) => {
    const ask = await serving('legacy');
    expect(await ask('initialize', hello(version))).toMatchObject({
      result: { protocolVersion: version, serverInfo: NAME, capabilities: capabilitiesOf('legacy') },
    });
  });

  it.each([MODERN_VERSION, '1999-01-01', '', 'x'.repeat(10_000)])(
    'answers a client of any other revision with its newest one: %s',
    async (version) => {
      const ask = await serving('legacy');
      expect(await ask('initialize', hello(version))).toMatchObject({
        result: { protocolVersion: LEGACY_VERSIONS[0] },
      });
    },
  );

  it('has tasks of its own, and is told of changes of tools', () => {
    expect(capabilitiesOf('legacy')).toMatchObject({
      tools: { listChanged: true },
      tasks: { requests: { tools: { call: {} } } },
    });
    expect(capabilitiesOf('legacy')).not.toHaveProperty('extensions');
  });
});

describe('the newer era', () => {
  it('begins without a handshake', async () => {
    const ask = await serving('modern');
    expect(await ask('tools/list', MODERN)).toMatchObject({ result: { tools: [] } });
  });

  it('has tasks by the extension alone', () => {
    expect(capabilitiesOf('modern')).not.toHaveProperty('tasks');
    expect(Object.keys(capabilitiesOf('modern').extensions ?? {})).toHaveLength(1);
  });
});

it.each<Era>(['modern', 'legacy'])('of the %s era, refuses a method that nobody serves', async (era) => {
  const ask = await serving(era);
  expect(await ask('prompts/list', era === 'modern' ? MODERN : undefined)).toMatchObject({
    error: { code: -32_601 },
  });
});

it('answers many clients whose requests have one number, each with what it asked for', async () => {
  const ask = await serving('legacy', (params) => ({
    tools: [],
    echo: (params as { cursor: string }).cursor,
  }));
  const cursors = Array.from({ length: 50 }, (_each, index) => `client ${index}`);
  const answers = await Promise.all(cursors.map((cursor) => ask('tools/list', { cursor }, 7)));
  expect(answers.map((answer) => ('result' in answer ? answer.result['echo'] : undefined))).toEqual(cursors);
});

it('a result is written as its handler gave it: the SDK takes and adds nothing', async () => {
  const given = { tools: 'no list at all', odd: [null, 2 ** 53] };
  const ask = await serving('legacy', () => given);
  expect(await ask('tools/list')).toMatchObject({ result: given });
});
