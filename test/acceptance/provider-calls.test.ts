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
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: [tool] }));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
  target = targetOf(gateway);
}, 60_000);
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
    { tool: 'city.weather', arguments: ARGS },
  ]);
  expect(responses.map(({ ok, data }) => [ok, data])).toEqual(responses.map(() => [true, ARGS]));
  expect(responses.map(({ meta }) => meta.provider_call_id)).toEqual([
    'call_1',
    'call_2',
    'toolu_1',
    undefined,
    'call_3',
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
