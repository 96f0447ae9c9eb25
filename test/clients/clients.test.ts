// The real SDKs of model providers: model, tools, model, with an approval in the middle, streamed and not, in every one of them. Their
// models are servers on loopback that speak the providers' protocols and refuse what those would refuse.
import { spawn } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { installPinned } from '../helpers/pinned-installation.ts';
import { request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { refusalsOfList } from './models/check-tools.ts';
import { startModels, type ModelServer } from './models/model-server.ts';
import { LAST_WORD } from './models/script.ts';

const PROGRAMS = [
  'openai-chat.mjs',
  'openai-responses.mjs',
  'anthropic.mjs',
  'gemini.mjs',
  'mistral.mjs',
  'bedrock.mjs',
  'ai-sdk.mjs',
  'langchain.mjs',
  'openai_chat.py',
  'openai_responses.py',
  'langchain_chat.py',
  'anthropic_messages.py',
  'gemini.py',
];
const TURNS = 3;
/** Eight by eight points of one colour. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGNgaGDAioaWBHb5BgDtrjABzOyr8gAAAABJRU5ErkJggg==';
const HANDLERS = {
  'weather.js': "export function execute({ city }) {\n  return { city, sky: 'sunny' };\n}\n",
  'map.js': `export function execute({ city }) {
  const image = { type: 'image', mimeType: 'image/png', data: '${PNG}' };
  return { content: [{ type: 'text', text: 'A map of ' + city + '.' }, image] };
}
`,
  'transfer.js': `import { appendFileSync } from 'node:fs';
export function execute({ to, amount }) {
  appendFileSync(new URL('transfers', import.meta.url), JSON.stringify({ to, amount }) + '\\n');
  return { sent: true };
}
`,
};

let folder: string;
let dir: string;
let gateway: RunningGateway;
let target: RestTarget;
let loopback: LoopbackServers;
let models: ModelServer;
const over = new AbortController();
let approver: Promise<void>;

beforeAll(async () => {
  folder = installPinned({ name: 'model-clients', from: join(import.meta.dirname, 'packages') });
  // A module finds its packages from where it lies.
  cpSync(join(import.meta.dirname, 'agents'), join(folder, 'agents'), { recursive: true });
  dir = tempDir();
  for (const [name, text] of Object.entries(HANDLERS)) writeFileSync(join(dir, name), text);
  appendFileSync(join(dir, 'transfers'), '');
  const tool = (name: string, handler: string, properties: object, metadata: object) => ({
    name,
    description: `The ${name} tool.`,
    tool_type: 'javascript',
    input_schema: {
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    },
    implementation_config: { handler: `./${handler}`, trusted: true },
    metadata,
  });
  const city = { city: { type: 'string', description: 'Which one.' } };
  const tools = [
    tool('city.weather', 'weather.js', city, { read_only: true }),
    tool('city.map', 'map.js', city, { read_only: true }),
    tool(
      'bank.transfer',
      'transfer.js',
      { to: { type: 'string' }, amount: { type: 'number' } },
      { is_dangerous: true },
    ),
  ];
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools }));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
  target = targetOf(gateway);
  await openDatabase(gateway);
  loopback = new LoopbackServers();
  models = await startModels(loopback, refusalsOfList);
  approver = approveAll();
}, 900_000);

afterAll(async () => {
  over.abort();
  await approver;
  await loopback?.close();
  await gateway?.stop();
  removeDir(dir);
});

/** The human: looks at what waits, and approves it. */
async function approveAll(): Promise<void> {
  while (!over.signal.aborted) {
    const { body } = await request<{ approvals: readonly { id: string }[] }>(
      target,
      'GET',
      '/v1/approvals?status=pending',
    );
    for (const { id } of body.approvals)
      await request(target, 'POST', `/v1/approvals/${id}/decision`, { decision: 'approve' });
    await new Promise((next) => setTimeout(next, 100));
  }
}

interface Ran {
  readonly exitCode: number | null;
  readonly output: string;
  readonly errors: string;
}

function run(program: string, stream: boolean): Promise<Ran> {
  const path = join(folder, 'agents', program);
  const python = join(folder, 'python/bin/python');
  const child = spawn(program.endsWith('.py') ? python : process.execPath, [path], {
    env: {
      PATH: process.env['PATH'],
      UTE_URL: gateway.url,
      UTE_API_KEY: gateway.keys.agent.text,
      MODEL_URL: models.url,
      STREAM: stream ? '1' : '0',
    },
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (piece) => (output += String(piece)));
  child.stderr.on('data', (piece) => (errors += String(piece)));
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (exitCode) => done({ exitCode, output, errors }));
  });
}

const transfers = () => readFileSync(join(dir, 'transfers'), 'utf8').split('\n').slice(0, -1);

describe.each(PROGRAMS)('%s', (program) => {
  it.each([false, true])('says its last word after tools and an approval; streamed: %s', async (stream) => {
    const [before, sentBefore] = [models.requests.length, transfers().length];
    const { exitCode, output, errors } = await run(program, stream);
    if (exitCode !== 0) throw new Error(`${program} ended with ${exitCode}:\n${errors}`);
    expect(JSON.parse(output)).toEqual({ text: LAST_WORD });
    expect(models.requests.slice(before).map(({ isStream }) => isStream)).toEqual(
      Array.from({ length: TURNS }, () => stream),
    );
    expect(transfers().slice(sentBefore)).toEqual([JSON.stringify({ to: 'Zoë "the" Baker', amount: 12.5 })]);
  });
});
