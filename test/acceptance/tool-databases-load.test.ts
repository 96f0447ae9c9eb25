// Tools that use up their database on the embedded server, beside calls that need it for the gateway's own records.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { callTool, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const GREEDY = 12;
const POOL_SIZE = 4;
const ACTIONS = 20;

const sqlTool = (name: string, statement: string) => ({
  name,
  description: 'Takes what it can get',
  tool_type: 'sql',
  timeout_ms: 60_000,
  input_schema: { type: 'object', properties: {} },
  implementation_config: { connection: 'greedy', statement },
  metadata: { read_only: true },
});
const TOOLS = {
  connections: { greedy: { type: 'embedded', tenant: 'none', pool_size: POOL_SIZE } },
  tools: [
    // In the FROM clause its rows would be kept in temporary files, and the limit of those would end it.
    sqlTool('spin', 'SELECT count(*) AS n FROM (SELECT generate_series(1, 100000000000)) s'),
    sqlTool(
      'spill',
      'SELECT count(*) AS n FROM (SELECT repeat(n::text, 100) AS t FROM generate_series(1, 5000000) n ORDER BY 1) s',
    ),
    {
      name: 'act',
      description: 'Changes something',
      tool_type: 'javascript',
      input_schema: { type: 'object', properties: {} },
      implementation_config: { handler: './act.mjs', trusted: true },
    },
  ],
};

let dir: string;
let gateway: RunningGateway;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ute-greedy-'));
  writeFileSync(join(dir, 'act.mjs'), "export const execute = async () => 'done';\n");
  writeFileSync(join(dir, 'tools.yaml'), stringify(TOOLS));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
});
afterAll(async () => {
  await gateway?.stop();
  rmSync(dir, { recursive: true, force: true });
});

it('a tool that exhausts its connections, time and temporary files leaves audit and asynchronous calls working', async () => {
  const target = targetOf(gateway);
  const { body } = await callTool(target, 'spill');
  expect(body.error).toMatchObject({ type: 'UNAVAILABLE', reason: 'DATABASE_UNAVAILABLE' });
  const enough = new AbortController();
  let spinning = GREEDY;
  const spins = Array.from({ length: GREEDY }, () =>
    spin(target, enough.signal).finally(() => (spinning -= 1)),
  );
  for (let round = 0; round < ACTIONS; round += 1) {
    // Its intent is kept before it runs: without that it would be refused.
    expect((await callTool(target, 'act')).body).toMatchObject({ ok: true, data: 'done' });
  }
  const ids = await Promise.all(Array.from({ length: ACTIONS }, () => acceptedId(target, 'act')));
  for (const id of ids)
    expect(await callWhen(target, id, ({ status }) => status === 'succeeded')).toMatchObject({
      attempts: 1,
    });
  const { status, body: listed } = await request<{ calls: readonly { tool: string }[] }>(
    target,
    'GET',
    '/v1/calls',
  );
  expect(status).toBe(200);
  expect(listed.calls.filter(({ tool }) => tool === 'act').length).toBeGreaterThan(ACTIONS);
  // All that while, its connections were taken.
  expect(spinning).toBeGreaterThanOrEqual(POOL_SIZE);
  enough.abort();
  await Promise.all(spins);
});

/** Resolves when it has an answer, or was given up. */
async function spin({ url, key }: RestTarget, signal: AbortSignal): Promise<void> {
  await fetch(`${url}/v1/tools/spin/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"arguments":{}}',
    signal,
  }).catch(() => undefined);
}
