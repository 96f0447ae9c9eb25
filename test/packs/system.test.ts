// The pack `system` (D8): execute_code in the sandbox, and the time.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { callTool, request, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  gateway = await startGateway({
    tools: [],
    settings: {
      loaders: [{ type: 'pack', name: 'system' }],
      executors: { python: { interpreters: { code: 'python3' } } },
    },
    more: { agent: { tenant: 'acme', roles: ['agent'] } },
  });
  agent = gateway.key('agent');
});
afterAll(() => gateway?.stop());

const run = async (code: string, more: object = {}, context: object = {}) => {
  const said = { arguments: { code, ...more }, context };
  return (await request<object>(agent, 'POST', '/v1/tools/execute_code/execute', said)).body;
};

const PNG = [
  'import struct, zlib',
  'part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))',
  'head = part(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, 0, 0, 0, 0))',
  'open("plot.png", "wb").write(b"\\x89PNG\\r\\n\\x1a\\n" + head + part(b"IDAT", zlib.compress(b"\\0ab")) + part(b"IEND", b""))',
  'print("drawn")',
].join('\n');

it('D8: execute_code(code) runs Python and returns what it printed and its value', async () => {
  expect(await run('print("hello")\nsum(range(10))')).toMatchObject({
    ok: true,
    data: { stdout: 'hello\n', result: 45, error: null, files: {}, images: [] },
  });
});

it('takes files, text or not, and gives those that it wrote', async () => {
  const files = { 'data/in.csv': 'a,1\nb,2\n', 'raw.bin': { base64: '/wA=' } };
  const code =
    'open("out.txt", "w").write(str(len(open("data/in.csv").readlines()) + open("raw.bin", "rb").read()[0]))';
  expect(await run(code, { files })).toMatchObject({ ok: true, data: { files: { 'out.txt': '257' } } });
  for (const name of ['../x', '/etc/passwd', 'a/../../b'])
    expect(await run('1', { files: { [name]: 'x' } })).toMatchObject({
      ok: false,
      error: { type: 'VALIDATION' },
    });
});

it('has its answer whatever it did to its folder: what cannot be read is left out, and what cannot be shown is said', async () => {
  const shut = 'import os\nopen("kept", "w").write("x")\nopen("shut", "w").write("x")\nos.chmod("shut", 0)';
  expect(await run(shut)).toMatchObject({
    data: { error: null, files: { kept: 'x' }, files_left_out: 1 },
  });
  const deep =
    'import os\nfor _ in range(3000):\n  os.mkdir("d")\n  os.chdir("d")\nopen("x", "w").write("x")\n7';
  expect(await run(deep)).toMatchObject({ data: { result: 7, error: null, files: {}, files_left_out: 1 } });
  for (const value of ['10 ** 5000', 'type("Odd", (), {"__repr__": lambda self: 1 / 0})()'])
    expect(await run(value)).toMatchObject({
      data: { error: null, stderr: '', result: expect.stringContaining('cannot be shown') as string },
    });
});

it('a file that only begins as a picture is a file', async () => {
  const { data } = (await run(`${PNG}\nwhole = open("plot.png", "rb").read()
open("broken.png", "wb").write(whole[:-12])
open("plot.png", "wb").write(whole[:20] + b"!" + whole[21:])`)) as { data: object };
  expect(data).toMatchObject({ images: [], files: { 'broken.png': {}, 'plot.png': {} } });
});

it('a model is shown what was plotted as an image, in its provider’s form', async () => {
  const message = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 't1', name: 'execute_code', input: { code: PNG } }],
  };
  const { body } = await request<{ messages: unknown }>(agent, 'POST', '/v1/providers/anthropic/tool-calls', {
    message,
  });
  const image = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: expect.stringMatching(/^iVBOR/) as string },
  };
  const shown = JSON.stringify(body.messages);
  expect(body).toMatchObject({
    messages: [{ content: [{ type: 'tool_result', content: expect.arrayContaining([image]) as unknown }] }],
  });
  // Its bytes stand in its messages once: as an image, and in no text.
  expect(shown.match(/iVBORw0KGgo/g)).toHaveLength(1);
});

it('state is kept for a session where it is asked for, and for no other', async () => {
  const call = (code: string, session: string) => run(code, { keep_state: true }, { session_id: session });
  await call('import math\nradius = 2', 's1');
  expect(await call('round(math.pi * radius ** 2, 2)', 's1')).toMatchObject({
    ok: true,
    data: { result: 12.57, state: { restored: true, kept: true, left_out: [] } },
  });
  expect(await call('radius', 's2')).toMatchObject({
    data: { error: expect.stringContaining('NameError') as string },
  });
  expect(await run('radius', { keep_state: true })).toMatchObject({
    ok: false,
    error: { type: 'VALIDATION' },
  });
});

it('a state that ends every run of its session is dropped with the second', async () => {
  const call = (code: string) => run(code, { keep_state: true }, { session_id: 'poisoned' });
  await call('kept = 7');
  // A mistake of one run costs nobody their state.
  expect(await call('import os\nos._exit(3)')).toMatchObject({ ok: false });
  expect(await call('kept')).toMatchObject({ data: { result: 7, state: { restored: true } } });
  const poison =
    'import os\nclass Poison:\n  def __reduce__(self): return (os._exit, (3,))\npoison = Poison()';
  expect(await call(poison)).toMatchObject({ ok: true, data: { state: { kept: true } } });
  for (const _ of [1, 2]) expect(await call('1')).toMatchObject({ ok: false });
  expect(await call('1')).toMatchObject({ ok: true, data: { result: 1, state: { restored: false } } });
  expect(await call('2')).toMatchObject({ data: { state: { restored: true } } });
});

it('nobody runs code without end: calls of a user and of a tenant are counted', () => {
  const { tools } = parse(readFileSync(resolve('packs/system/tools.yaml'), 'utf8')) as {
    tools: { name: string; rate_limits?: object[] }[];
  };
  expect(tools.find(({ name }) => name === 'execute_code')?.rate_limits).toMatchObject([
    { per: 'user' },
    { per: 'tenant' },
  ]);
});

it('D8: get_current_time() gives the time now, in UTC where nothing is said', async () => {
  const before = Date.now();
  const { body } = await callTool(agent, 'get_current_time', {});
  const { iso, timezone } = body.data as { iso: string; timezone: string };
  expect(timezone).toBe('UTC');
  expect(Date.parse(iso)).toBeGreaterThanOrEqual(Math.floor(before / 1_000) * 1_000);
  expect((await callTool(agent, 'get_current_time', { timezone: 'Mars/Base' })).body).toMatchObject({
    ok: false,
    error: { reason: 'UNKNOWN_TIMEZONE' },
  });
});
