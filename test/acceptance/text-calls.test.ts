// Calls that a model wrote into its text, over REST: found, run under the same rules as any call, and answered as text.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { request, targetOf, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { ECHO_HANDLER, removeDir, tempDir } from '../helpers/temp-tools.ts';

interface TextAnswer {
  readonly calls: readonly {
    readonly tool: string;
    readonly arguments: unknown;
    readonly line: number;
    readonly mended: readonly { kind: string }[];
    readonly problem?: { readonly reason: string; readonly position: number };
    readonly response: Envelope & { readonly error?: { readonly type: string; readonly reason: string } };
  }[];
  readonly text: string;
}

let dir: string;
let gateway: RunningGateway;
let target: RestTarget;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'echo.js'), ECHO_HANDLER);
  const tool = (name: string, more: object) => ({
    name,
    description: 'Gives back what it is given.',
    tool_type: 'javascript',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    implementation_config: { handler: './echo.js', trusted: true },
    ...more,
  });
  const tools = [
    tool('city.weather', { metadata: { read_only: true } }),
    tool('pay', { metadata: { is_dangerous: true } }),
  ];
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools }));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
  target = targetOf(gateway);
});
afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

const run = (text: unknown, more: object = {}) =>
  request<TextAnswer>(target, 'POST', '/v1/execute-text', { text, ...more });

it('every call of a text is run in its order, in whatever spelling, and answered as text for the next turn', async () => {
  const { status, body } = await run(
    'Let me see.\n```json\n{"tool": "city.weather", "args": {"city": "Bern",}}\n```\nand {"name": "city__weather", "arguments": {"city": "Basel"}}',
  );
  expect(status).toBe(200);
  expect(body.calls.map(({ tool, response }) => [tool, response.data])).toEqual([
    ['city.weather', { city: 'Bern' }],
    ['city__weather', { city: 'Basel' }],
  ]);
  expect(body.calls.map(({ line, mended }) => [line, mended.map(({ kind }) => kind)])).toEqual([
    [3, ['trailing_comma']],
    [5, []],
  ]);
  expect(body.text).toBe(
    '# TOOL RESULTS\n\n1. city.weather: ok\n{"city":"Bern"}\n\n2. city__weather: ok\n{"city":"Basel"}\n',
  );
});

it('calls that are broken, unknown, malformed or unsafe are refused each by itself, and the model is told why', async () => {
  const { body } = await run(
    [
      '{"tool": "city.weather", "args": {"city": Bern}}',
      '```json',
      '{"tool": "no_such_tool", "args": {}}',
      '{"tool": "city.weather", "args": {"town": "Bern"}}',
      '{"tool": "pay", "args": {"city": "Bern"}}',
      '{"tool": "city.weather", "args": {"city": "Bern"}}',
      '```',
    ].join('\n'),
  );
  expect(body.calls.map(({ response }) => response.error?.type)).toEqual([
    'VALIDATION',
    'NOT_FOUND',
    'VALIDATION',
    'CONFIRMATION_REQUIRED',
    undefined,
  ]);
  expect(body.calls[0]?.problem).toMatchObject({ reason: 'CALL_NOT_JSON', position: 42 });
  expect(body.text).toContain(
    '1. city.weather: failed (VALIDATION)\nThe call is broken in line 1, column 43',
  );
  expect(body.text).toContain('A person has to approve it first.');
  expect(body.text).toContain('5. city.weather: ok\n{"city":"Bern"}');
});

it('a text without a call runs nothing', async () => {
  expect((await run('Good morning!')).body).toEqual({ calls: [], text: '' });
});

it('the context stands for every call, and a key for all of them runs each once', async () => {
  const text = '{"tool": "city.weather", "args": {"city": "Bern"}}';
  expect((await run(text, { context: { tenant_id: 'another' } })).body.calls[0]?.response).toMatchObject({
    ok: false,
    error: { type: 'PERMISSION_DENIED' },
  });
});

it('a body that cannot be read is one call that is refused, in an envelope', async () => {
  const { status, body } = await request<Envelope>(target, 'POST', '/v1/execute-text', { txt: 'x' });
  expect([status, body]).toMatchObject([400, { ok: false, error: { type: 'VALIDATION' } }]);
  expect((await run(5)).status).toBe(400);
  expect((await run('{"tool":"city.weather"} '.repeat(200))).status).toBe(400);
});

it('who has no key is told that alone, by both', async () => {
  const stranger = { ...target, key: 'ute_live_nobody' };
  const answers = await Promise.all(
    ['/v1/execute-text', '/v1/parse'].map((path) =>
      request(stranger, 'POST', path, { text: '{"tool":"pay"}' }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([401, 401]);
});

it('the calls of a text are found without being run', async () => {
  const { status, body } = await request<TextAnswer>(target, 'POST', '/v1/parse', {
    text: 'So:\n{"tool": "pay", "args": {"city": "Bern"}} {"tool": "pay", "args": {',
  });
  expect([status, body.calls]).toMatchObject([
    200,
    [
      { tool: 'pay', arguments: { city: 'Bern' }, position: 4, end: 45, line: 2, column: 1, mended: [] },
      { tool: 'pay', arguments: {}, problem: { reason: 'CALL_NOT_JSON', position: 71 } },
    ],
  ]);
  expect(body.calls[0]).not.toHaveProperty('problem');
});
