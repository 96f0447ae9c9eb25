// A Python module changed under a running gateway, its tool's declaration untouched.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir, writeTools } from '../helpers/temp-tools.ts';
import { eventually } from '../helpers/eventually.ts';

let dir: string;
let gateway: RunningGateway;

const saying = (word: string) =>
  `from reload_word import suffix\n\ndef say():\n    return "${word}" + suffix()\n`;
const module = (text: string) => writeFileSync(join(dir, 'reload_tool.py'), text);
const imported = (word: string) =>
  writeFileSync(join(dir, 'reload_word.py'), `def suffix():\n    return "${word}"\n`);
const say = async () => (await callTool(targetOf(gateway, 'agent'), 'say')).body;

beforeAll(async () => {
  dir = tempDir();
  // The sandbox's user is another one than root.
  chmodSync(dir, 0o755);
  module(saying('old'));
  imported('!');
  const tool = `  - name: say\n    description: Says a word\n    tool_type: python\n    input_schema: { type: object, properties: {}, additionalProperties: false }\n    implementation_config: { module: reload_tool, function_name: say }\n`;
  gateway = await startGateway({ tools: [writeTools(dir, tool)] });
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

it('the new code of the module, and then of one that it imports, is what calls run', async () => {
  expect((await say()).data).toBe('old!');
  module(saying('new'));
  await eventually(async () => expect((await say()).data).toBe('new!'));
  imported('?');
  await eventually(async () => expect((await say()).data).toBe('new?'));
});

it.each([
  ['has lost the function', 'def other():\n    return 1\n'],
  ['wants an argument that the tool does not have', 'def say(word):\n    return word\n'],
])('code that %s is refused until it fits again', async (_, text) => {
  module(text);
  await eventually(async () => expect((await say()).error?.reason).toBe('TOOL_DEFINITION_CHANGED'));
  module(saying('mended'));
  await eventually(async () => expect((await say()).data).toBe('mended?'));
});

describe('module_paths', () => {
  let folder: string;
  let running: RunningGateway;
  const toolOf = (name: string) =>
    `  - name: ${name}\n    description: Says a word\n    tool_type: python\n    input_schema: { type: object, properties: {}, additionalProperties: false }\n    implementation_config: { module: ${name}_tools, function_name: say }\n`;
  const write = (name: string) =>
    writeFileSync(join(folder, 'modules', `${name}_tools.py`), `def say():\n    return "${name}"\n`);
  const answer = async (name: string) => (await callTool(targetOf(running, 'agent'), name)).body.data;

  beforeAll(async () => {
    folder = tempDir();
    mkdirSync(join(folder, 'modules'));
    for (const path of [folder, join(folder, 'modules')]) chmodSync(path, 0o755);
    write('first');
    running = await startGateway({
      tools: [writeTools(folder, toolOf('first'))],
      settings: { executors: { python: { module_paths: [join(folder, 'modules')] } } },
    });
  });

  afterAll(async () => {
    await running?.stop();
    removeDir(folder);
  });

  it('a module that is added is found, by workers that the tools from before do not need', async () => {
    expect(await answer('first')).toBe('first');
    write('second');
    writeTools(folder, toolOf('first'), toolOf('second'));
    await eventually(async () => expect(await answer('second')).toBe('second'));
    expect(await answer('first')).toBe('first');
  });
});
