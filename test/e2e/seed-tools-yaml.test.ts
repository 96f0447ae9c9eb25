// The two-tool example of the original design notes: refused as a whole where it asks for a shell, served where it does not.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LoadError } from '../../src/registry/registry-sync.ts';
import { callTool, targetOf } from '../helpers/rest-client.ts';
import { startGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const FIXTURE = join(import.meta.dirname, '../fixtures/seed-002');
const EXAMPLE = join(FIXTURE, 'tools.yaml');

let dir: string;

beforeEach(() => {
  dir = tempDir();
});

afterEach(() => removeDir(dir));

it('the example as a whole is refused: it names the tool, its line, and the executors there are', async () => {
  const line =
    readFileSync(EXAMPLE, 'utf8')
      .split('\n')
      .findIndex((text) => text.includes('tool_type: shell')) + 1;
  const refused: unknown = await startGateway({ tools: [EXAMPLE] }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(LoadError);
  const { problems } = refused as LoadError;
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({
    file: EXAMPLE,
    line,
    column: expect.any(Number),
    tool: 'dangerous_delete',
    path: 'tool_type',
  });
  expect(problems[0]?.message).toMatch(/"shell".*no executor.*known: http, javascript, python/);
});

it('the file_reader of the example loads as it is written, and a call reads a file', async () => {
  const [fileReader = ''] = readFileSync(EXAMPLE, 'utf8').split(/^ {2}- name: dangerous_delete$/m);
  const tools = join(dir, 'tools.yaml');
  writeFileSync(tools, fileReader);
  copyFileSync(join(FIXTURE, 'file_tools.py'), join(dir, 'file_tools.py'));
  writeFileSync(join(dir, 'note.txt'), 'grüße\n');
  const gateway = await startGateway({
    tools: [tools],
    settings: { executors: { python: { module_paths: [dir] } } },
  });
  try {
    const { status, body } = await callTool(targetOf(gateway, 'agent'), 'file_reader', {
      path: join(dir, 'note.txt'),
    });
    expect(body).toMatchObject({ ok: true, data: 'grüße\n' });
    expect(status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
