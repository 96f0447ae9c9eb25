// Integers of 64 bits: what a caller sends is what the upstream gets, and what it answers is what the caller gets, digit for digit.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { grpcDoor, mcpDoor, restDoor, type Decision, type Door } from '../helpers/doors.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { ECHO_HANDLER, removeDir, tempDir } from '../helpers/temp-tools.ts';

const INT64 = { type: 'integer', format: 'int64' };
const LARGE = '9007199254740993';
const withId = (id: object) => ({ type: 'object', properties: { id }, required: ['id'] });
const echo = { tool_type: 'javascript', implementation_config: { handler: './echo.js', trusted: true } };
const KIND = { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] };
const posting = (body: unknown) => ({
  tool_type: 'http',
  implementation_config: { connection: 'upstream', path: '/ids', method: 'POST', body },
});

let servers: LoopbackServers;
let dir: string;
let gateway: RunningGateway;
let doors: readonly Door[];
/** What reached the upstream last. */
let arrived = '';

const TOOLS = [
  {
    name: 'send',
    input_schema: withId(INT64),
    output_schema: withId(INT64),
    ...posting('remaining'),
  },
  { name: 'ranged', input_schema: withId({ ...INT64, minimum: 0 }), ...posting('remaining') },
  {
    name: 'placed',
    input_schema: withId(INT64),
    tool_type: 'http',
    implementation_config: {
      connection: 'upstream',
      path: '/ids/{id}',
      method: 'POST',
      query: { q: 'x{id}' },
      headers: { 'X-Id': '{id}' },
      body: { whole: '{id}', words: 'id {id}' },
    },
  },
  {
    name: 'nested',
    input_schema: withId({ type: 'object', properties: { deep: { type: 'array', items: INT64 } } }),
    ...posting({ as: '{id}' }),
  },
  {
    name: 'text',
    input_schema: withId({ type: 'string' }),
    output_schema: withId({ type: 'string' }),
    ...posting('remaining'),
  },
  { name: 'either', input_schema: withId({ anyOf: [INT64, { type: 'string' }] }), ...posting('remaining') },
  { name: 'plain', input_schema: withId({ type: 'integer' }), ...posting('remaining') },
  { name: 'handled', input_schema: withId(INT64), ...echo },
  {
    name: 'odd',
    input_schema: KIND,
    tool_type: 'javascript',
    implementation_config: { handler: './odd.js', trusted: true },
  },
  {
    name: 'odd_in_worker',
    input_schema: KIND,
    tool_type: 'javascript',
    implementation_config: { handler: './odd.js' },
  },
  {
    name: 'odd_in_python',
    input_schema: KIND,
    tool_type: 'python',
    implementation_config: { module: 'hostile', function_name: 'not_a_number' },
  },
];

const ODD_HANDLER = `export async function execute({ kind }, context) {
  if (kind === 'step') return context.callTool('handled', { id: NaN });
  if (kind === 'part') return context.partial([Infinity]);
  return { value: [{ nan: NaN, infinity: -Infinity, bigint: 1n }[kind]] };
}
`;

beforeAll(async () => {
  servers = new LoopbackServers();
  const upstream = await servers.http(async (incoming, response) => {
    const body = await text(incoming);
    arrived = `${incoming.url} ${String(incoming.headers['x-id'])} ${body}`;
    response.setHeader('content-type', 'application/json').end(body);
  });
  dir = tempDir();
  writeFileSync(join(dir, 'echo.js'), ECHO_HANDLER);
  writeFileSync(join(dir, 'odd.js'), ODD_HANDLER);
  const reach = { allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };
  const connections = { upstream: { type: 'http', base_url: upstream, ...reach } };
  const tools = TOOLS.map((tool) => ({ description: tool.name, ...tool }));
  writeFileSync(join(dir, 'tools.yaml'), stringify({ connections, tools }));
  writeFileSync(join(dir, 'api.json'), JSON.stringify(documentOf(upstream)));
  const loaders = [
    { type: 'yaml-file', paths: [join(dir, 'tools.yaml')] },
    { type: 'openapi', document: join(dir, 'api.json'), ...reach },
  ];
  gateway = await startGateway({ tools: [], settings: { loaders } });
  doors = [restDoor(gateway), grpcDoor(gateway), mcpDoor(gateway)];
});

afterAll(async () => {
  for (const door of doors) door.close();
  await gateway.stop();
  await servers.close();
  removeDir(dir);
});

/** Of somebody else: its schemas are applied in a thread. */
function documentOf(url: string): object {
  const whole = { in: 'path', name: 'id', required: true, schema: INT64 };
  const content = { 'application/json': { schema: withId({ ...INT64, minimum: 0 }) } };
  const responses = { '200': { description: 'The same.', content } };
  const post = {
    operationId: 'keep',
    summary: 'Keeps it.',
    parameters: [whole],
    requestBody: {
      content: { 'application/json': { schema: { type: 'object', properties: { other: INT64 } } } },
    },
    responses,
  };
  const info = { title: 'Ids', version: '1.0.0' };
  return { openapi: '3.1.0', info, servers: [{ url }], paths: { '/kept/{id}': { post } } };
}

/** The arguments are JSON text: what a test writes there is not rounded on its way. One door after the other. */
async function called(
  tool: string,
  argumentsJson: string,
): Promise<readonly (Decision & { readonly arrived: string })[]> {
  const key = gateway.keys.agent.text;
  const answers = [];
  for (const door of doors) {
    arrived = 'nothing';
    const answer = await door.call({ tool, argumentsJson, key });
    answers.push({ ...answer, arrived });
  }
  return answers;
}

describe('a result that is no JSON', () => {
  it.each(['in the process', 'in a worker'])('is OUTPUT_INVALID, NOT_JSON: a handler %s', async (where) => {
    for (const kind of ['nan', 'infinity', 'bigint'])
      for (const answer of await called(
        where === 'in a worker' ? 'odd_in_worker' : 'odd',
        `{"kind":"${kind}"}`,
      ))
        expect(answer).toMatchObject({ ok: false, type: 'OUTPUT_INVALID', reason: 'NOT_JSON' });
  });

  it.each(['in the process', 'in a worker'])(
    'is not passed on as a step or a part, either: a handler %s',
    async (where) => {
      for (const kind of ['step', 'part'])
        for (const answer of await called(
          where === 'in a worker' ? 'odd_in_worker' : 'odd',
          `{"kind":"${kind}"}`,
        ))
          expect(answer).toMatchObject({ ok: false, type: 'PERMANENT', reason: 'EXCEPTION' });
    },
  );

  it.each(['nan', '-inf'])('is OUTPUT_INVALID, NOT_JSON: a Python function, %s', async (kind) => {
    for (const answer of await called('odd_in_python', `{"kind":"${kind}"}`))
      expect(answer).toMatchObject({ ok: false, type: 'OUTPUT_INVALID', reason: 'NOT_JSON' });
  });
});

describe('an integer of 64 bits', () => {
  const INTEGERS = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
    fc.constantFrom(0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)),
  );

  it('survives argument, upstream and result exactly, as a number and as text, through each door', async () => {
    await fc.assert(
      fc.asyncProperty(INTEGERS, fc.boolean(), async (id, asText) => {
        for (const answer of await called('send', `{"id":${asText ? `"${id}"` : id}}`)) {
          expect(answer.arrived).toBe(`/ids undefined {"id":${id}}`);
          expect(answer).toMatchObject({ ok: true });
          const { id: back } = answer.data as { id: unknown };
          expect(String(back)).toBe(String(id));
          expect(typeof back).toBe(Number.isSafeInteger(Number(id)) ? 'number' : 'string');
        }
      }),
      { numRuns: 60 },
    );
  });

  it('is exact in each place of a request, and in lists and objects', async () => {
    for (const { arrived: got } of await called('placed', `{"id":${LARGE}}`))
      expect(got).toBe(`/ids/${LARGE}?q=x${LARGE} ${LARGE} {"whole":${LARGE},"words":"id ${LARGE}"}`);
    for (const { arrived: got } of await called('nested', `{"id":{"deep":[1,${LARGE},"-${LARGE}"]}}`))
      expect(got).toBe(`/ids undefined {"as":{"deep":[1,${LARGE},-${LARGE}]}}`);
  });

  it('is exact to an operation of an OpenAPI document', async () => {
    for (const { arrived: got } of await called('keep', `{"id":"${LARGE}","other":-${LARGE}}`))
      expect(got).toBe(`/kept/${LARGE} undefined {"other":-${LARGE}}`);
  });

  it('is held to its range', async () => {
    for (const answer of await called('ranged', `{"id":-${LARGE}}`)) {
      expect(answer).toMatchObject({
        ok: false,
        type: 'VALIDATION',
        reason: 'SCHEMA_MISMATCH',
        arrived: 'nothing',
      });
      expect(answer.message).toContain('/id must be >= 0');
    }
    for (const { ok } of await called('ranged', `{"id":"${LARGE}"}`)) expect(ok).toBe(true);
  });

  it.each([
    ['more than 64 bits', 'send', '{"id":9223372036854775808}', 'NUMBER_RANGE'],
    ['more than 64 bits as text', 'send', '{"id":"9223372036854775808"}', 'SCHEMA_MISMATCH'],
    ['a text of another spelling', 'send', '{"id":"042"}', 'SCHEMA_MISMATCH'],
    ['a large fraction', 'send', '{"id":9007199254740993.5}', 'NUMBER_RANGE'],
    ['a large number for text', 'text', `{"id":${LARGE}}`, 'NUMBER_RANGE'],
    ['a large number for what may be text', 'either', `{"id":${LARGE}}`, 'NUMBER_RANGE'],
    ['a large number for an integer of no format', 'plain', `{"id":${LARGE}}`, 'NUMBER_RANGE'],
    ['digits for an integer of no format', 'plain', '{"id":"42"}', 'SCHEMA_MISMATCH'],
  ])('is not: %s', async (_what, tool, args, reason) => {
    for (const answer of await called(tool, args))
      expect(answer).toMatchObject({ ok: false, type: 'VALIDATION', reason, arrived: 'nothing' });
  });

  it('is text where text is asked for, or may be meant', async () => {
    for (const tool of ['text', 'either'])
      for (const { arrived: got } of await called(tool, `{"id":"${LARGE}"}`))
        expect(got).toBe(`/ids undefined {"id":"${LARGE}"}`);
  });

  it('is a number to a handler where a number holds it, and otherwise its digits', async () => {
    for (const { data } of await called('handled', '{"id":"42"}')) expect(data).toEqual({ id: 42 });
    for (const { data } of await called('handled', `{"id":${LARGE}}`)) expect(data).toEqual({ id: LARGE });
  });

  it('stands in one of several calls, and nowhere but in arguments', async () => {
    const send = (body: string) =>
      fetch(`${gateway.url}/v1/execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.keys.agent.text}`, 'content-type': 'application/json' },
        body,
      }).then(
        (response) =>
          response.json() as Promise<{ responses: { data?: unknown; error?: { reason: string } }[] }>,
      );
    const { responses } = await send(
      `{"calls":[{"tool":"handled","arguments":{"id":1}},{"tool":"handled","arguments":{"id":${LARGE}}},{"tool":"plain","arguments":{"id":${LARGE}}},{"tool":"handled","arguments":{"id":2},"context":{"session_id":${LARGE}}}]}`,
    );
    expect(responses.map(({ data, error }) => error?.reason ?? data)).toEqual([
      { id: 1 },
      { id: LARGE },
      'NUMBER_RANGE',
      'NUMBER_RANGE',
    ]);
  });
});
