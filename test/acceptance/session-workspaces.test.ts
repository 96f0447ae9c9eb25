// A session's files: for the agent and the user that the session is of, through either door; another of the same key finds nothing.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const ANN = { session_id: 's1', user_id: 'ann', agent_id: 'a1' };
const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const TOOLS = [
  {
    name: 'note',
    description: 'Keeps a file of this name.',
    tool_type: 'shell',
    input_schema: NAME,
    implementation_config: { command: 'touch {name}', workspace: 'session' },
    metadata: { idempotent: true },
  },
  {
    name: 'look',
    description: 'Lists the files.',
    tool_type: 'shell',
    input_schema: { type: 'object' },
    implementation_config: { command: 'ls', workspace: 'session' },
    metadata: { read_only: true },
  },
];

let dir: string;
let gateway: RunningGateway;
let rest: Door;
let grpc: Door;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: TOOLS }));
  gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    more: {
      service: { tenant: 'acme', roles: ['agent'] },
      umbrella: { tenant: 'umbrella', roles: ['agent'] },
    },
  });
  rest = restDoor(gateway);
  grpc = grpcDoor(gateway);
});

afterAll(async () => {
  rest.close();
  grpc.close();
  await gateway.stop();
  removeDir(dir);
});

function call(door: Door, tool: string, args: object, context: Record<string, string>, key = 'service') {
  return door.call({ tool, argumentsJson: JSON.stringify(args), context, key: gateway.key(key).key });
}

async function seenBy(door: Door, context: Record<string, string>, key?: string): Promise<unknown> {
  const answer = await call(door, 'look', {}, context, key);
  expect(answer).toMatchObject({ ok: true });
  return (answer.data as { stdout: string }).stdout;
}

describe('what a command left for its session', () => {
  it.each(['rest', 'grpc'])(
    'is there for the same agent and user, by either door, and for no other (kept by %s)',
    async (by) => {
      const door = by === 'rest' ? rest : grpc;
      expect(await call(door, 'note', { name: `by-${by}` }, ANN)).toMatchObject({ ok: true });
      for (const reader of [rest, grpc]) {
        expect(await seenBy(reader, ANN)).toContain(`by-${by}\n`);
        for (const other of [
          { ...ANN, user_id: 'bob' },
          { ...ANN, agent_id: 'a2' },
          { ...ANN, session_id: 's2' },
          { session_id: 's1' },
        ])
          expect(await seenBy(reader, other)).toBe('');
        expect(await seenBy(reader, ANN, 'umbrella')).toBe('');
      }
    },
  );
});
