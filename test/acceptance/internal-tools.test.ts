// An internal tool is there for other tools alone: no door lists it, finds it, suggests it or runs it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { grpcDoor, mcpDoor, restDoor, type Door } from '../helpers/doors.ts';
import { callTool, request, sendTo, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let dir: string;
let gateway: RunningGateway;
let doors: readonly Door[];

const handler = (file: string) => ({ handler: `./${file}.js` });
const TOOLS = [
  {
    name: 'store_write',
    description: 'Writes.',
    tool_type: 'javascript',
    implementation_config: handler('write'),
    metadata: { internal: true },
  },
  {
    name: 'save',
    description: 'Saves by a step.',
    tool_type: 'composite',
    implementation_config: { steps: [{ id: 'a', tool: 'store_write', arguments: {} }], result: 'steps.a' },
  },
  {
    name: 'keep',
    description: 'Saves by code.',
    tool_type: 'javascript',
    implementation_config: handler('keep'),
  },
];

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'write.js'), "export const execute = () => 'written';\n");
  writeFileSync(
    join(dir, 'keep.js'),
    "export const execute = (_, { callTool }) => callTool('store_write', {});\n",
  );
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: TOOLS }));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
  doors = [restDoor(gateway), grpcDoor(gateway), mcpDoor(gateway)];
});

afterAll(async () => {
  for (const door of doors ?? []) door.close();
  await gateway?.stop();
  removeDir(dir);
});

it.each(['save', 'keep'])('%s runs it', async (tool) => {
  expect((await callTool(targetOf(gateway), tool, {})).body).toMatchObject({ ok: true, data: 'written' });
});

it('no list has it, but for whoever writes declarations', async () => {
  for (const query of ['', '?format=openai', '?format=mcp', '?format=anthropic']) {
    const { body } = await request<unknown>(targetOf(gateway, 'agent'), 'GET', `/v1/tools${query}`);
    expect(JSON.stringify(body)).not.toContain('store_write');
    expect(JSON.stringify(body)).toContain('save');
  }
});

describe('a call from outside', () => {
  it('is told that there is no such tool, over every door', async () => {
    const told = await Promise.all(
      doors.map((door) =>
        door.call({ tool: 'store_write', argumentsJson: '{}', key: gateway.keys.admin.text }),
      ),
    );
    expect(told.length).toBeGreaterThan(2);
    for (const decision of told) {
      expect(decision.ok).toBe(false);
      expect(decision.message).not.toContain('store_write');
    }
  });

  it('with a name that is nearly its own is not told of it', async () => {
    const { body } = await callTool(targetOf(gateway), 'store_writ', {});
    expect(body).toMatchObject({ ok: false, error: { type: 'NOT_FOUND' } });
    expect(body.error?.message).not.toContain('store_write');
  });

  it('is refused by the queue as well', async () => {
    const { status } = await sendTo(
      targetOf(gateway),
      'POST',
      '/v1/tools/store_write/execute',
      { arguments: {} },
      { prefer: 'respond-async' },
    );
    expect(status).toBe(404);
  });
});
