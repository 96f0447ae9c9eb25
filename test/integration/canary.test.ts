// Canaries on a whole gateway: a tool on trial for a share of the callers, and the three ways to end it at once.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../helpers/open-database.ts';
import { request, targetOf, type Envelope } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let dir: string;
let gateway: RunningGateway;

function tool(name: string, version: string, more = ''): string {
  return `  - name: ${name}
    description: Says which version it is
    tool_type: javascript
    input_schema: { type: object, properties: { who: { type: string } } }
    implementation_config: { handler: ${name}.js, trusted: true }
    metadata: { version: ${version} }
${more}`;
}

const canary = (percent: number, name = 'greet_next') =>
  `    canary: { tool: ${name}, percent: ${percent}, by: tenant }\n`;

function write(...tools: string[]): void {
  for (const name of ['greet', 'greet_next'])
    writeFileSync(join(dir, `${name}.js`), `export const execute = () => '${name}';\n`);
  writeFileSync(join(dir, 'tools.yaml'), `tools:\n${tools.join('')}`);
}

const reload = async () =>
  (
    await request<{ ok: boolean; problems: { message: string; path?: string }[] }>(
      targetOf(gateway),
      'POST',
      '/v1/admin/reload',
      {},
    )
  ).body;

async function greet(
  name = 'greet',
  body: object = {},
): Promise<Envelope & { meta: { tool_version: string } }> {
  const path = `/v1/tools/${name}/execute`;
  const answer = await request<Envelope & { meta: { tool_version: string } }>(
    targetOf(gateway, 'agent'),
    'POST',
    path,
    { arguments: {}, ...body },
  );
  return answer.body;
}

beforeAll(async () => {
  dir = tempDir();
  write(tool('greet', '1.0.0', canary(100)), tool('greet_next', '2.0.0'));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
  await openDatabase(gateway);
});
afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

describe('a tool on trial', () => {
  it('runs in place of the other for its share, and the envelope says so', async () => {
    expect(await greet()).toMatchObject({
      ok: true,
      data: 'greet_next',
      meta: { tool: 'greet_next', tool_version: '2.0.0' },
    });
    const metrics = await (await fetch(gateway.service.metricsUrl)).text();
    expect(metrics).toMatch(/ute_canary_calls_total\{tool="greet",version="canary",outcome="ok"\} 1/);
  });

  it('is not listed', async () => {
    const { body } = await request<{ tools: { name: string }[] }>(
      targetOf(gateway, 'agent'),
      'GET',
      '/v1/tools',
    );
    expect(body.tools.map(({ name }) => name)).toEqual(['greet']);
  });

  it('ends at once by the kill switch of the tool on trial', async () => {
    await request(targetOf(gateway), 'POST', '/v1/admin/tools/greet_next/disable', {});
    expect(await greet()).toMatchObject({ ok: true, data: 'greet', meta: { tool_version: '1.0.0' } });
    await request(targetOf(gateway), 'POST', '/v1/admin/tools/greet_next/enable', {});
    expect(await greet()).toMatchObject({ data: 'greet_next' });
  });

  it('is off together with the tool itself', async () => {
    await request(targetOf(gateway), 'POST', '/v1/admin/tools/greet/disable', {});
    expect(await greet()).toMatchObject({ ok: false, error: { reason: 'TOOL_DISABLED' } });
    await request(targetOf(gateway), 'POST', '/v1/admin/tools/greet/enable', {});
  });

  it('does not make a key run twice when the share changes between', async () => {
    const keyed = { context: { idempotency_key: 'k-1' } };
    expect(await greet('greet', keyed)).toMatchObject({ data: 'greet_next' });
    write(tool('greet', '1.0.0', canary(0)), tool('greet_next', '2.0.0'));
    expect(await reload()).toMatchObject({ ok: true });
    expect(await greet()).toMatchObject({ data: 'greet' });
    expect(await greet('greet', keyed)).toMatchObject({ data: 'greet_next', meta: { replayed: true } });
  });

  it.each([
    ['is not there', [tool('greet', '1.0.0', canary(5, 'gone'))], 'there is no tool "gone"'],
    ['is the tool itself', [tool('greet', '1.0.0', canary(5, 'greet'))], 'a tool cannot stand in for itself'],
    [
      'takes other arguments',
      [tool('greet', '1.0.0', canary(5)), tool('greet_next', '2.0.0').replace('who', 'whom')],
      'must have the same input_schema',
    ],
    [
      'asks for fewer permissions',
      [
        tool('greet', '1.0.0', canary(5)).replace('version: 1.0.0', 'permissions: [greet:use]'),
        tool('greet_next', '2.0.0'),
      ],
      'must have the same permissions',
    ],
    [
      'needs no approval',
      [
        tool('greet', '1.0.0', canary(5)).replace('version: 1.0.0', 'requires_approval: true'),
        tool('greet_next', '2.0.0'),
      ],
      'must have the same need for approval',
    ],
    [
      'has a trial of its own',
      [tool('greet', '1.0.0', canary(5)), tool('greet_next', '2.0.0', canary(5, 'greet'))],
      'has a canary of its own',
    ],
  ])('is refused at load where it %s', async (_what, tools, words) => {
    write(...tools);
    const { ok, problems } = await reload();
    expect(ok).toBe(false);
    expect(problems[0]).toMatchObject({ path: 'canary.tool', message: expect.stringContaining(words) });
  });
});
