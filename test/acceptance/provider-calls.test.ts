// Calls as the models of OpenAI, Anthropic, Gemini and LangChain ask for them, sent on as they came.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { callWhen } from '../helpers/async-client.ts';
import { request, sendTo, targetOf, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { ECHO_HANDLER, removeDir, tempDir } from '../helpers/temp-tools.ts';

const INPUT = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', format: 'int64' } },
  required: ['city'],
};
/** Names that some provider refuses, and an argument that may be left out in one alternative alone. */
const ODD_INPUT = {
  type: 'object',
  properties: {
    'X-Request-Id': { type: 'integer', format: 'int64' },
    'filter[name]': { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    to: {
      anyOf: [
        {
          type: 'object',
          properties: { kind: { const: 'mail' }, note: { type: 'string' } },
          required: ['kind'],
          additionalProperties: false,
        },
        {
          type: 'object',
          properties: { kind: { const: 'sms' }, note: { type: 'string' } },
          required: ['kind', 'note'],
          additionalProperties: false,
        },
      ],
    },
  },
  required: ['X-Request-Id'],
};
const ARGS = { city: 'Bern', days: 2 };
const TEXT = JSON.stringify(ARGS);

type Answered = Omit<Envelope, 'meta'> & {
  readonly error?: { readonly details: Record<string, unknown> };
  readonly meta: { readonly tool: string; readonly provider_call_id?: string; readonly call_id: string };
};

let dir: string;
let gateway: RunningGateway;
let target: RestTarget;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'echo.js'), ECHO_HANDLER);
  const tool = {
    name: 'city.weather',
    description: 'The weather of the next days.',
    tool_type: 'javascript',
    input_schema: INPUT,
    implementation_config: { handler: './echo.js', trusted: true },
    metadata: { read_only: true },
  };
  const odd = {
    ...tool,
    name: '2fa.check',
    description: `Checks a code. ${'It says much about itself. '.repeat(60)}The end.`,
    input_schema: ODD_INPUT,
  };
  const reminder = {
    name: 'reminder',
    description: 'Reminders.',
    tool_type: 'javascript',
    actions: [
      {
        name: 'set',
        description: 'Sets one.',
        parameters: [
          { name: 'days', type: 'array', items: { type: 'integer' } },
          {
            name: 'to',
            type: 'object',
            properties: { mail: { type: 'string' } },
            required_properties: ['mail'],
          },
        ],
      },
    ],
    implementation_config: { handler: './echo.js', trusted: true },
    metadata: { read_only: true },
  };
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: [tool, odd, reminder] }));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
  target = targetOf(gateway);
});
afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

const batch = async (calls: readonly unknown[]) =>
  (await request<{ responses: readonly Answered[] }>(target, 'POST', '/v1/execute', { calls })).body
    .responses;
const path = '/v1/tools/city.weather/execute';
const one = (body: unknown) => request<Answered>(target, 'POST', path, body);

it('a list of what a model asked for is run as it came, each answer under the id of its call', async () => {
  const responses = await batch([
    { id: 'call_1', type: 'function', function: { name: 'city__weather', arguments: TEXT } },
    { type: 'function_call', id: 'fc_1', call_id: 'call_2', name: 'city__weather', arguments: TEXT },
    { type: 'tool_use', id: 'toolu_1', name: 'city__weather', input: ARGS },
    { functionCall: { name: 'city__weather', args: ARGS }, thoughtSignature: 'c2ln' },
    { name: 'city__weather', args: ARGS, id: 'call_3', type: 'tool_call' },
    { toolUse: { toolUseId: 'tooluse_1', name: 'city__weather', input: ARGS } },
    { tool: 'city.weather', arguments: ARGS },
  ]);
  expect(responses.map(({ ok, data }) => [ok, data])).toEqual(responses.map(() => [true, ARGS]));
  expect(responses.map(({ meta }) => meta.provider_call_id)).toEqual([
    'call_1',
    'call_2',
    'toolu_1',
    undefined,
    'call_3',
    'tooluse_1',
    undefined,
  ]);
  expect(new Set(responses.map(({ meta }) => meta.tool))).toEqual(new Set(['city.weather']));
});

it('one call stands on the path of its tool, with a context beside it', async () => {
  const said = { type: 'tool_use', id: 'toolu_2', name: 'city__weather', input: ARGS };
  const { status, body } = await one({ ...said, context: { session_id: 's-1' } });
  expect([status, body.data, body.meta.provider_call_id]).toEqual([200, ARGS, 'toolu_2']);
  const wrong = await one({ ...said, context: { session: 's-1' } });
  expect([wrong.status, wrong.body.error?.reason]).toEqual([400, 'MALFORMED_CALL']);
});

it('a call of another tool than the one of the path is refused, and does not run', async () => {
  const { status, body } = await one({ name: 'city__map', args: ARGS, id: 'call_1' });
  expect([status, body.error?.reason]).toEqual([400, 'MALFORMED_CALL']);
  expect(body.error?.message).toContain('city__map');
});

it('arguments that are no JSON are answered with the place, under the id by which the model finds its mistake', async () => {
  const written = '{"city": "Bern", "days": two}';
  const [response] = await batch([{ id: 'call_9', function: { name: 'city__weather', arguments: written } }]);
  expect(response).toMatchObject({
    ok: false,
    error: {
      type: 'VALIDATION',
      reason: 'ARGUMENTS_NOT_JSON',
      details: { position: written.indexOf('two') },
    },
    meta: { provider_call_id: 'call_9' },
  });
});

it('arguments are held to the schema of the tool, and what stands in text to its digits', async () => {
  const [missing, large] = await batch([
    { id: 'a', function: { name: 'city__weather', arguments: '{}' } },
    { id: 'b', function: { name: 'city__weather', arguments: '{"city":"Bern","days":9007199254740993}' } },
  ]);
  expect(missing).toMatchObject({ error: { reason: 'SCHEMA_MISMATCH' }, meta: { provider_call_id: 'a' } });
  expect(large).toMatchObject({ ok: true, data: { days: '9007199254740993' } });
});

it('a call that runs later keeps its id to the end', async () => {
  const said = { id: 'call_7', type: 'function', function: { name: 'city__weather', arguments: TEXT } };
  const accepted = await sendTo<Answered>(target, 'POST', path, said, { prefer: 'respond-async' });
  expect([accepted.status, accepted.body.meta.provider_call_id]).toEqual([202, 'call_7']);
  const ended = await callWhen(target, accepted.body.meta.call_id, ({ status }) => status === 'succeeded');
  expect(ended.result).toMatchObject({ data: ARGS, meta: { provider_call_id: 'call_7' } });
});

it('who has no key learns nothing of what was wrong with the call', async () => {
  const stranger = { ...target, key: 'none' };
  const said = { id: 'x', function: { name: 'city__weather', arguments: '{' } };
  const { status, body } = await request<Answered>(stranger, 'POST', path, said);
  expect([status, body.error?.reason]).not.toContain('ARGUMENTS_NOT_JSON');
  expect(status).toBe(401);
});

const get = (url: string, headers: Record<string, string> = {}) =>
  fetch(`${target.url}${url}`, { headers: { authorization: `Bearer ${target.key}`, ...headers } });

interface Listed {
  readonly name: string;
  readonly description: string;
  readonly input_schema: {
    readonly properties: Readonly<Record<string, object>>;
    readonly required: string[];
  };
}

it('a model calls a tool by the names that its provider was shown, of the tool and of its arguments', async () => {
  const list = (await (await get('/v1/tools?format=anthropic')).json()) as readonly Listed[];
  const shown = list.find(({ description }) => description.startsWith('Checks a code.'));
  expect(shown?.name).toBe('_2fa__check');
  expect(Object.keys(shown?.input_schema.properties ?? {})).toEqual([
    'X-Request-Id',
    'filter_name_',
    'labels',
    'to',
  ]);
  const input = { 'X-Request-Id': 1, filter_name_: 'a', labels: { filter_name_: 'mine' } };
  const said = { type: 'tool_use', id: 'toolu_3', name: '_2fa__check', input };
  const { status, body } = await request<Answered>(target, 'POST', '/v1/tools/2fa.check/execute', said);
  expect([status, body.data]).toEqual([
    200,
    { 'X-Request-Id': 1, 'filter[name]': 'a', labels: { filter_name_: 'mine' } },
  ]);
  // Gemini takes no hyphen; whoever knows the tool itself uses its own names.
  const text = '{"X_Request_Id":9007199254740993,"filter[name]":"b"}';
  const [gemini] = await batch([{ name: '2fa.check', arguments: text }]);
  expect(gemini?.data).toEqual({ 'X-Request-Id': '9007199254740993', 'filter[name]': 'b' });
});

it('null for what strict mode cannot leave out is left out, also in an alternative', async () => {
  const args = { 'X-Request-Id': 1, 'filter[name]': null, labels: null, to: { kind: 'mail', note: null } };
  const [response] = await batch([{ name: '_2fa__check', arguments: JSON.stringify(args) }]);
  expect(response?.data).toEqual({ 'X-Request-Id': 1, to: { kind: 'mail' } });
});

it('a description that OpenAI refuses is cut in its list, and whole in the documentation', async () => {
  const list = (await (await get('/v1/tools?format=openai-responses')).json()) as readonly Listed[];
  const cut = list.find(({ name }) => name === '_2fa__check')?.description ?? '';
  expect(cut.length).toBeLessThanOrEqual(1_024);
  expect(cut).toMatch(/says much about itself\..* \[…\]$/);
  const docs = (await (await get('/v1/tools/_2fa__check/docs')).json()) as Listed;
  expect(docs.description).toMatch(/The end\.$/);
});

it('an action says what its lists hold and its objects have, and is held to it', async () => {
  const list = (await (await get('/v1/tools?format=openai-responses&strict=true')).json()) as readonly {
    readonly name: string;
    readonly strict: boolean;
  }[];
  expect(list.find(({ name }) => name === 'reminder__set')?.strict).toBe(true);
  const [good, bad] = await batch([
    { name: 'reminder__set', args: { days: [1], to: { mail: 'a' } } },
    { name: 'reminder__set', args: { days: ['x'], to: {} } },
  ]);
  expect(good).toMatchObject({ ok: true });
  expect(bad).toMatchObject({
    error: { details: { violations: [{ pointer: '/days/0' }, { pointer: '/to/mail' }] } },
  });
});

it('a list that is known already is not sent again, until it is another', async () => {
  const first = await get('/v1/tools?format=gemini');
  const etag = first.headers.get('etag') ?? '';
  const again = await get('/v1/tools?format=gemini', { 'if-none-match': etag });
  expect([again.status, await again.text()]).toEqual([304, '']);
  await request(target, 'POST', '/v1/admin/tools/city.weather/disable');
  const other = await get('/v1/tools?format=gemini', { 'if-none-match': etag });
  expect(other.status).toBe(200);
  expect(await other.text()).not.toContain('city__weather');
  await request(target, 'POST', '/v1/admin/tools/city.weather/enable');
  expect((await get('/v1/tools?format=gemini', { 'if-none-match': etag })).status).toBe(304);
});

it('what providers refuse is told at load, with the tool, the place and the provider', async () => {
  const { body } = await request<{
    readonly advice: readonly { readonly tool: string; readonly path: string; readonly message: string }[];
    readonly more_advice: number;
  }>(target, 'GET', '/v1/admin/reload');
  expect(body.more_advice).toBe(0);
  expect(body.advice.map(({ tool, path }) => `${tool} ${path}`)).toEqual([
    '2fa.check description',
    '2fa.check input_schema.properties.X-Request-Id',
    '2fa.check input_schema.properties.filter[name]',
  ]);
  expect(body.advice[2]).toMatchObject({
    line: expect.any(Number) as number,
    message: expect.stringContaining('Anthropic, Gemini and Bedrock refuse this:') as string,
  });
});
