// The order of calls through a running gateway: no door, form of a name or way to call a tool gets round it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { grpcDoor, mcpDoor, restDoor, type Door } from '../helpers/doors.ts';
import { request, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const TOOLS = `
tools:
  - &tool
    name: read_page
    description: Reads what anybody may have written
    tool_type: javascript
    input_schema: { type: object, properties: { fail: { type: boolean } }, additionalProperties: false }
    implementation_config: { handler: ./echo.js, trusted: true }
    metadata: { read_only: true }
    extensions: { cache: { ttl_ms: 60000, scope: tenant } }
  - { <<: *tool, name: look, extensions: {} }
  - { <<: *tool, name: look_closely, extensions: {}, output_schema: { type: object, required: [seen] } }
  - <<: *tool
    name: look_lazily
    output_schema: { type: object, required: [seen] }
    extensions: { fallback: { data: { seen: nothing }, on: [OUTPUT_INVALID] } }
  - { <<: *tool, name: book, extensions: {} }
  - name: mail
    description: Mail
    tool_type: javascript
    actions:
      - { name: send, description: Send, parameters: [], returns: nothing }
      - { name: list, description: List, parameters: [], returns: nothing }
    implementation_config: { handler: ./mail.js, trusted: true }
  - name: look_and_book
    description: Both
    tool_type: composite
    input_schema: { type: object, properties: {}, additionalProperties: false }
    implementation_config: { steps: [{ id: a, tool: look }, { id: b, tool: book }] }
  - name: read_and_send
    description: Both
    tool_type: composite
    input_schema: { type: object, properties: {}, additionalProperties: false }
    implementation_config: { steps: [{ id: a, tool: read_page }, { id: b, tool: mail.send }] }
`;
const ECHO = `export function execute({ fail }) {
  if (fail) throw new Error('as told');
  return { done: true };
}
`;
const MAIL = `export const send = () => ({ sent: true });
export const list = () => [];
export const execute = (_arguments, { action }) => ({ action });
`;

let dir: string;
let gateway: RunningGateway;
let ann: RestTarget;
let sessions = 0;
const newSession = () => `session-${(sessions += 1)}`;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'tools.yaml'), TOOLS);
  writeFileSync(join(dir, 'echo.js'), ECHO);
  writeFileSync(join(dir, 'mail.js'), MAIL);
  gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    more: {
      ann: { tenant: 'acme', roles: ['agent'] },
      uma: { tenant: 'umbrella', roles: ['agent'] },
    },
    settings: {
      extensions: {
        chaining: {
          rules: [
            { name: 'look-first', tools: ['book'], after: ['look*'] },
            { name: 'nothing-out', tools: ['mail.send'], not_after: ['read_*'] },
          ],
        },
      },
      toolsets: {
        desk: {
          include: { tools: ['book', 'read_page'] },
          overrides: { book: { name: 'reserve' }, read_page: { name: 'peek' } },
        },
      },
    },
  });
  ann = gateway.key('ann');
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

async function call(tool: string, context: object, args: object = {}, who = ann): Promise<string> {
  const { body } = await request<{ ok: boolean; error?: { type: string; reason: string } }>(
    who,
    'POST',
    `/v1/tools/${tool}/execute`,
    { arguments: args, context },
  );
  return body.ok ? 'ok' : (body.error?.reason ?? body.error?.type ?? '');
}

it('a tool is called after another one within its session, in a step as well as by itself', async () => {
  const context = { session_id: newSession() };
  expect(await call('book', context)).toBe('STEP_MISSING');
  expect(await call('look', context, { fail: true })).toBe('EXCEPTION');
  expect(await call('book', context)).toBe('STEP_MISSING');
  expect(await call('look_and_book', context)).toBe('ok');
  expect(await call('book', context)).toBe('ok');
  expect(await call('book', context, {}, gateway.key('uma'))).toBe('STEP_MISSING');
  expect(await call('book', { session_id: newSession() })).toBe('STEP_MISSING');
  expect(await call('book', {})).toBe('SESSION_REQUIRED');
});

it('an answer that the caller does not get, or that stands in for one, is no success', async () => {
  const context = { session_id: newSession() };
  expect(await call('look_closely', context)).toBe('SCHEMA_MISMATCH');
  expect(await call('book', context)).toBe('STEP_MISSING');
  expect(await call('look_lazily', context)).toBe('ok');
  expect(await call('book', context)).toBe('STEP_MISSING');
});

it('what was read keeps the rest of the session in, whatever came of it, from the cache, and by any name', async () => {
  expect(await call('read_page', { session_id: newSession() })).toBe('ok');
  for (const [reads, args] of [
    ['read_page', {}],
    ['read_page', { fail: true }],
    ['read_and_send', {}],
  ] as const) {
    const context = { session_id: newSession() };
    expect(await call('mail.send', context)).toBe('ok');
    await call(reads, context, args);
    expect(await call('mail.send', context)).toBe('STEP_REFUSED');
    expect(await call('mail__send', context)).toBe('STEP_REFUSED');
    expect(await call('mail', context, { action: 'send' })).not.toBe('ok');
    expect(await call('mail.list', context)).toBe('ok');
  }
  const context = { session_id: newSession() };
  expect(await call('peek', { ...context, toolset: 'desk' })).toBe('ok');
  expect(await call('mail.send', context)).toBe('STEP_REFUSED');
  expect(await call('reserve', { ...context, toolset: 'desk' })).toBe('STEP_MISSING');
});

it('a call that runs later is one of its session, when it is accepted and when it runs', async () => {
  const context = { session_id: newSession() };
  const read = await acceptedId(ann, 'read_page', {}, { context });
  await callWhen(ann, read);
  expect(await call('mail.send', context)).toBe('STEP_REFUSED');
});

it.each<readonly [string, () => Door]>([
  ['REST', () => restDoor(gateway)],
  ['gRPC', () => grpcDoor(gateway)],
  ['MCP', () => mcpDoor(gateway)],
])('holds by %s', async (_, open) => {
  const door = open();
  try {
    const made = await door.call({ tool: 'book', argumentsJson: '{}', key: ann.key });
    expect(made).toMatchObject({ ok: false, reason: 'SESSION_REQUIRED' });
  } finally {
    door.close();
  }
});
