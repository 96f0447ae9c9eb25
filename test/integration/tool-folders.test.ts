// Tool folders from the first file to the call: checked and built by the command, served as folders and as what was built.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { eventually } from '../helpers/eventually.ts';
import { callTool, request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { docOf, HANDLER, schemaOf, writeToolFolder } from '../helpers/tool-folder-kit.ts';

let dir: string;
let root: string;
beforeEach(() => {
  dir = tempDir();
  root = join(dir, 'tools');
  mkdirSync(root);
});
afterEach(() => removeDir(dir));

async function build(...args: string[]) {
  const out = { stdout: '', stderr: '' };
  const code = await run(['build-tools', 'tools', ...args], {
    stdout: (text) => (out.stdout += text),
    stderr: (text) => (out.stderr += text),
    readStdin: async () => '',
    fetch,
    env: {},
    cwd: dir,
  });
  return { code, ...out };
}
const registry = () =>
  JSON.parse(readFileSync(join(root, 'tool_registry.json'), 'utf8')) as {
    version: string;
    contentHash: string;
    buildTimestamp: string;
    gitCommit: string | null;
    tools: Record<string, unknown>[];
  };

describe('ute build-tools', () => {
  it('tells every fault of every folder at once, with file, line and column, and writes nothing', async () => {
    const broken = { type: 'object', properties: { a: { type: 'strin' } } };
    writeToolFolder(root, 'one', {
      schema: schemaOf('one', { jsonSchema: broken, colour: 'red' }),
      summary: 'One.\n',
    });
    writeToolFolder(root, 'two', { schema: '{\n  "toolId": "two",\n}\n', doc: '# two\n\n## Summary\n\nx\n' });
    writeToolFolder(root, 'three', { schema: schemaOf('other'), handler: 'export function run() {}\n' });
    writeToolFolder(root, 'four', { handler: 'export function execute() {\n  return (;\n}\n' });
    rmSync(join(root, 'four', 'doc.md'));
    writeToolFolder(root, 'five', {
      schema:
        '{\n  "toolId": "five",\n  "category": "utility",\n  "category": "action",\n  "jsonSchema": {}\n}\n',
    });
    const { code, stdout } = await build();
    expect(code).toBe(1);
    const lines = stdout.trimEnd().split('\n');
    for (const wanted of [
      /^tools\/one\/doc_summary\.md:1:1 {2}one: expected 2 to 4 lines, found 1/,
      /^tools\/one\/schema\.json:\d+:\d+ {2}one {2}input_schema\.properties\.a\.type: /,
      /^tools\/one\/schema\.json:\d+:\d+ {2}one {2}colour: unknown/,
      /^tools\/two\/schema\.json:3:1 {2}two: is not valid JSON here/,
      /^tools\/two\/doc\.md:\d+:1 {2}two: the section "## Parameters" is missing/,
      /^tools\/two\/doc\.md:\d+:1 {2}two: the section "## Returns" is missing/,
      /^tools\/two\/doc\.md:\d+:1 {2}two: the section "## Errors" is missing/,
      /^tools\/three\/schema\.json:2:\d+ {2}three {2}toolId: is "other", and the folder is called "three"/,
      /^tools\/three\/handler\.js:1:1 {2}three: exports no function execute: it exports run/,
      /^tools\/four\/handler\.js:2:11 {2}four: is no JavaScript module/,
      /^tools\/four\/doc\.md {2}four: does not exist/,
      /^tools\/five\/schema\.json:4:3 {2}five: stands there twice/,
    ])
      expect(lines).toContainEqual(expect.stringMatching(wanted));
    expect(existsSync(join(root, 'tool_registry.json'))).toBe(false);
  });

  it('writes what the gateway serves: a version of the content, the schemas of providers, the documentation', async () => {
    writeToolFolder(root, 'one');
    writeToolFolder(root, 'two', { handler: "export { execute } from './run.js';\n" });
    writeFileSync(join(root, 'two', 'run.js'), HANDLER);
    mkdirSync(join(root, '_core'));
    const { code, stdout } = await build();
    expect([code, stdout]).toEqual([
      0,
      `ok: 2 tools, version ${registry().version}: tools/tool_registry.json\n`,
    ]);
    const { tools, version, contentHash, buildTimestamp } = registry();
    expect(version).toBe(`1.0.${contentHash.slice(0, 8)}`);
    expect(Date.parse(buildTimestamp)).not.toBeNaN();
    expect(tools[1]).toMatchObject({
      toolId: 'two',
      category: 'utility',
      jsonSchema: { type: 'object' },
      providerSchemas: {
        openai: { type: 'function', function: { name: 'two' } },
        anthropic: { name: 'two' },
        gemini: { name: 'two' },
      },
      summary: 'Does two.\nAnd no more.',
      documentation: docOf('two').trim(),
      handlerPath: 'two/handler.js',
      files: { 'handler.js': expect.stringMatching(/^[0-9a-f]{64}$/), 'run.js': expect.any(String) },
    });
    expect(JSON.stringify(tools)).not.toContain(dir);
    // The same content stays the same file; another one does not.
    const before = readFileSync(join(root, 'tool_registry.json'), 'utf8');
    expect((await build()).code).toBe(0);
    expect(readFileSync(join(root, 'tool_registry.json'), 'utf8')).toBe(before);
    expect((await build('--check')).code).toBe(0);
    writeFileSync(join(root, 'two', 'run.js'), `${HANDLER}\n`);
    expect(await build('--check')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('build it again'),
    });
    expect(readFileSync(join(root, 'tool_registry.json'), 'utf8')).toBe(before);
    expect((await build()).code).toBe(0);
    expect(registry().version).not.toBe(version);
  });

  it('where there are no tool folders it says so', async () => {
    expect(await build()).toMatchObject({ code: 2, stderr: expect.stringContaining('holds no tool folder') });
  });
});

describe('a gateway', () => {
  let gateway: RunningGateway | undefined;
  afterEach(async () => {
    await gateway?.stop();
    gateway = undefined;
  });
  const start = (...loaders: object[]) => startGateway({ tools: [], settings: { loaders } });
  const said = async (text = 'x') => (await callTool(targetOf(gateway!), 'one', { text })).body.data;
  const reload = () =>
    request<{ problems: { file: string; message: string }[] }>(
      targetOf(gateway!),
      'POST',
      '/v1/admin/reload',
    );

  it('serves folders as they stand, and each change of them: code, schema, documentation, a folder more', async () => {
    writeToolFolder(root, 'one');
    gateway = await start({ type: 'tool-folder', path: root });
    const admin = targetOf(gateway);
    expect(await said()).toEqual({ said: 'x' });
    const docs = await request(admin, 'GET', '/v1/tools/one/docs');
    expect(docs.body).toMatchObject({
      summary: 'Does one.\nAnd no more.',
      documentation: docOf('one').trim(),
    });
    const prompt = await fetch(`${gateway.url}/v1/tools?format=prompt`, {
      headers: { 'x-api-key': admin.key },
    });
    expect(await prompt.text()).toContain('And no more.');
    writeToolFolder(root, 'two', { handler: HANDLER });
    writeToolFolder(root, 'one', { handler: HANDLER.replace('said: text', 'said: text + "!"') });
    await eventually(async () => {
      expect(await said()).toEqual({ said: 'x!' });
      expect((await callTool(admin, 'two', {})).status).toBe(200);
    });
    // What is wrong takes no tools away.
    writeFileSync(join(root, 'one', 'doc.md'), '# one\n');
    expect((await reload()).body.problems[0]).toMatchObject({ file: join(root, 'one', 'doc.md') });
    expect(await said()).toEqual({ said: 'x!' });
  });

  it('serves what was built, exactly: code that was changed since is not run, and not started with', async () => {
    writeToolFolder(root, 'one', {
      schema: schemaOf('one', { timeoutMs: 1_000 }),
      handler: "export { execute } from './run.js';\n",
    });
    const handler = HANDLER.replace('return', "while (text === 'for ever');\n  return");
    writeFileSync(join(root, 'one', 'run.js'), handler);
    await build();
    const { version } = registry();
    const loader = { type: 'tool-folder', path: root, serve: 'registry', version };
    gateway = await start(loader);
    expect(await said()).toEqual({ said: 'x' });
    writeFileSync(join(root, 'one', 'run.js'), handler.replace('said: text', 'said: "other"'));
    const { problems } = (await reload()).body;
    expect(JSON.stringify(problems)).toContain('is not what it was when the registry was built');
    for (let times = 0; times < 5; times += 1) expect(await said(`n${times}`)).toEqual({ said: `n${times}` });
    // A thread that starts now finds the other code, and runs none of it.
    expect(await said('for ever')).toBeUndefined();
    await eventually(async () => {
      const { body } = await callTool(targetOf(gateway!), 'one', { text: 'x' });
      expect(body).toMatchObject({ ok: false });
    });
    expect(await said()).toBeUndefined();
    await expect(start(loader)).rejects.toThrow(/problem/);
    // Built again it is another version.
    await build();
    await expect(start(loader)).rejects.toThrow(/problem/);
    await gateway.stop();
    gateway = await start({ ...loader, version: registry().version });
    expect(await said()).toEqual({ said: 'other' });
  });

  it('refuses a registry that was changed after it was built', async () => {
    writeToolFolder(root, 'one');
    await build();
    const file = join(root, 'tool_registry.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('Does one.', 'Does all.'));
    await expect(start({ type: 'tool-folder', path: root, serve: 'registry' })).rejects.toThrow(/problem/);
  });
});

it('the tool folders of the demo are built without a fault, and answer', async () => {
  cpSync(resolve(import.meta.dirname, '../../tools'), root, { recursive: true });
  expect(await build()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok: 2 tools/) });
  const gateway = await startGateway({
    tools: [],
    settings: { loaders: [{ type: 'tool-folder', path: root }] },
  });
  try {
    const call = async (tool: string, args: object) => (await callTool(targetOf(gateway), tool, args)).body;
    expect(await call('convert_units', { value: 212, from: 'F', to: 'C' })).toMatchObject({
      data: { value: 100, unit: 'C' },
    });
    expect(await call('convert_units', { value: 1, from: 'km', to: 'kg' })).toMatchObject({
      error: { type: 'VALIDATION', reason: 'UNITS_DIFFER' },
    });
    const text = 'Write to Ada@Example.com or ada@example.com, or call +43 (1) 234-5678.';
    expect(await call('extract_contacts', { text })).toMatchObject({
      data: { emails: ['ada@example.com'], phones: ['+4312345678'] },
    });
  } finally {
    await gateway.stop();
  }
});
