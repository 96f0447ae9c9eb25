// Log lines of calls, as the built program writes them: each says who called, for whom, in which session and trace.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { request, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import { javascriptTool, removeDir, tempDir, writeTools } from '../helpers/temp-tools.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;
const SOON = { timeout: 10_000, interval: 20 };
const KEY = createApiKey();

let dir: string;
let gateway: GatewayProcess;
let url: string;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(
    join(dir, 'talks.js'),
    `export async function execute(_arguments, { logger }) { logger.warn('about to answer'); return 1; }\n`,
  );
  const env = configured(dir, {
    auth: {
      keys: [
        {
          id: KEY.id,
          secret_sha256: KEY.secretHash.toString('hex'),
          tenant: 'acme',
          roles: ['agent'],
        },
      ],
    },
    loaders: [{ type: 'yaml-file', paths: [writeTools(dir, javascriptTool('talks', './talks.js'))] }],
  });
  gateway = new GatewayProcess(dir, env);
  url = (await gateway.ready()).rest;
});
afterAll(async () => {
  await gateway?.end();
  removeDir(dir);
});

async function linesOfCall(target: RestTarget): Promise<readonly Record<string, unknown>[]> {
  const body = { arguments: {}, context: { session_id: 'session-7' } };
  const more = { traceparent: TRACEPARENT };
  const answer = await request<Envelope & { meta: { call_id: string } }>(
    target,
    'POST',
    '/v1/tools/talks/execute',
    body,
    more,
  );
  const about = () =>
    gateway.stdout
      .split('\n')
      .filter((line) => line.includes(answer.body.meta.call_id))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await expect.poll(() => about().some(({ outcome }) => outcome !== undefined), SOON).toBe(true);
  return about();
}

it('the line of a call and those of its tool name principal, tenant, session and trace', async () => {
  const lines = await linesOfCall({ url, key: KEY.text });
  expect(lines.map(({ msg }) => msg)).toEqual(['about to answer', 'call succeeded']);
  for (const line of lines)
    expect(line).toMatchObject({
      tool: 'talks',
      principalId: KEY.id,
      tenantId: 'acme',
      sessionId: 'session-7',
      traceId: TRACE_ID,
    });
});

it('the line of a call that was refused for its key names no tenant: nobody has checked it', async () => {
  const [line, ...more] = await linesOfCall({ url, key: `${KEY.text}x` });
  expect(more).toEqual([]);
  expect(line).toMatchObject({ outcome: 'AUTH', sessionId: 'session-7', traceId: TRACE_ID });
  expect(line).not.toHaveProperty('principalId');
  expect(line).not.toHaveProperty('tenantId');
});

it('a gateway that has only the lesser sandbox says so once, in plain words and in its log', async () => {
  const home = tempDir();
  const lesser = configured(home, {
    executors: { shell: { backends: ['landlock'] } },
    loaders: [{ type: 'yaml-file', paths: [writeTools(home, javascriptTool('talks', './talks.js'))] }],
  });
  writeFileSync(join(home, 'talks.js'), 'export const execute = async () => 1;\n');
  const started = new GatewayProcess(home, lesser);
  try {
    await started.ready();
    await expect.poll(() => started.stdout, SOON).toContain('"msg":"sandbox found"');
    const lines = (started.stdout + started.stderr).split('\n');
    expect(
      lines.filter((line) => line.startsWith('Shell and Python tools run in the lesser sandbox')),
    ).toHaveLength(1);
    const found = lines.find((line) => line.includes('"msg":"sandbox found"')) ?? '{}';
    expect(JSON.parse(found)).toMatchObject({ level: 'info', backend: 'landlock' });
  } finally {
    await started.end();
    removeDir(home);
  }
});
