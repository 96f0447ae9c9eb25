// A server on stdio that does not start: the log says what it last printed, and which wall of the sandbox it ran into.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import type { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { callTool, McpBench, nodeServer } from '../helpers/mcp-kit.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let bench: McpBench;
let dir: string;

beforeEach(() => {
  bench = new McpBench();
  dir = tempDir();
  chmodSync(dir, 0o755);
});
afterEach(async () => {
  await bench.close();
  removeDir(dir);
});

/** What is told of a server that runs this, and has its own folder to read and nothing else of the machine. */
async function toldOf(script: string, more: JsonObject = {}): Promise<string> {
  const folder = join(dir, 'server');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'server.mjs'), script);
  const connection = nodeServer(join(folder, 'server.mjs'), [], { ...more });
  const readable = [...(connection['readable'] as string[]), folder];
  const server = bench.open({ ...connection, readable });
  const failure = await callTool(server, 'do').then(
    () => expect.unreachable('it started'),
    (error: ToolFailure) => error,
  );
  await server.close();
  expect(failure).toMatchObject({ type: 'UNAVAILABLE', reason: 'CONNECT_FAILED' });
  return (failure.cause as Error).message;
}

it('the last twenty lines that it printed are told, of stderr and of stdout, the last one without an end too', async () => {
  const told = await toldOf(`
    import { writeSync } from 'node:fs';
    for (let n = 1; n <= 30; n += 1) writeSync(2, 'line ' + n + '\\n');
    writeSync(1, 'not JSON\\n');
    writeSync(2, 'the end');
    process.exit(1);
  `);
  const lines = told.slice(told.indexOf('The server last printed:\n')).split('\n').slice(1);
  expect(lines).toHaveLength(20);
  expect(lines).toContain('  line 30');
  expect(lines).toContain('  not JSON');
  expect(lines).toContain('  the end');
  expect(lines).not.toContain('  line 12');
});

it('a secret of its environment is not in what is told', async () => {
  const told = await toldOf(`console.error('token is ' + process.env.TOKEN); process.exit(1);`, {
    env: { TOKEN: 'a-secret-of-the-server' },
  });
  expect(told).toContain('token is ');
  expect(told).not.toContain('a-secret-of-the-server');
});

it('that it has no network is named', async () => {
  const script = `await fetch('http://tools.invalid/').catch((e) => { console.error(e.cause); process.exit(1); });`;
  expect(await toldOf(script)).toContain(
    'It has no network in the sandbox: where it needs one, say `network: host`.',
  );
});

it('a file that is there and is not shown to it is named', async () => {
  const hidden = join(dir, 'settings.json');
  writeFileSync(hidden, '{}');
  const script = `import { readFileSync } from 'node:fs'; readFileSync(${JSON.stringify(hidden)});`;
  expect(await toldOf(script)).toContain(`It cannot see ${hidden} in the sandbox`);
});

it('a file that is nowhere is no fault of the sandbox', async () => {
  const script = `import { readFileSync } from 'node:fs'; readFileSync('/nowhere/settings.json');`;
  const told = await toldOf(script);
  expect(told).toContain('/nowhere/settings.json');
  expect(told).not.toContain('in the sandbox');
});
