// A handler's code changed under a running gateway, its declaration untouched: in force without a restart, or not at all.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HandlerSources } from '../../src/executors/javascript/handler-sources.ts';
import { cpuMsOf } from '../helpers/cpu-time.ts';
import { callTool, request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir, writeTools } from '../helpers/temp-tools.ts';
import { eventually } from '../helpers/eventually.ts';

let dir: string;

beforeEach(() => {
  dir = tempDir();
});

afterEach(() => removeDir(dir));

const write = (name: string, text: string) => writeFileSync(join(dir, name), text);
const saying = (word: string) => `export function execute() {\n  return ${JSON.stringify(word)};\n}\n`;

function tool(name: string, config: string): string {
  return `  - name: ${name}\n    description: Says a word\n    tool_type: javascript\n    implementation_config: { ${config} }\n`;
}

describe('a running gateway', () => {
  let gateway: RunningGateway;

  const say = async (name: string) => (await callTool(targetOf(gateway, 'agent'), name)).body.data;
  const status = async () =>
    (
      await request<{ ok: boolean; problems: { tool?: string; message: string }[] }>(
        targetOf(gateway),
        'GET',
        '/v1/admin/reload',
      )
    ).body;

  beforeEach(async () => {
    write('worker.js', saying('old'));
    write('trusted.js', saying('old'));
    write('word.js', "export const word = 'old';\n");
    write(
      'importing.js',
      "import { word } from './word.js';\nexport function execute() {\n  return word;\n}\n",
    );
    const tools = writeTools(
      dir,
      tool('worker', 'handler: worker.js'),
      tool('trusted', 'handler: trusted.js, trusted: true'),
      tool('importing', 'handler: importing.js'),
    );
    gateway = await startGateway({ tools: [tools] });
  });

  afterEach(() => gateway?.stop());

  it.each([
    ['worker', 'worker.js', saying('new')],
    ['trusted', 'trusted.js', saying('new')],
    ['importing', 'word.js', "export const word = 'new';\n"],
  ])(
    'takes the new code of the tool %s when %s changes, and leaves the others alone',
    async (name, file, text) => {
      expect(await say(name)).toBe('old');
      write(file, text);
      await eventually(async () => expect(await say(name)).toBe('new'));
      for (const other of ['worker', 'trusted', 'importing'].filter((each) => each !== name))
        expect(await say(other)).toBe('old');
      expect((await status()).ok).toBe(true);
    },
  );

  it('takes it at once when it is told to reload', async () => {
    write('worker.js', saying('new'));
    await request(targetOf(gateway), 'POST', '/v1/admin/reload');
    expect(await say('worker')).toBe('new');
  });

  it.each([
    ['that does not parse', 'export function execute( {'],
    ['that has lost its function', 'export const other = 1;'],
  ])('keeps the old code for a new one %s, says why, and takes the mended one', async (_, text) => {
    write('worker.js', text);
    await eventually(async () => expect((await status()).ok).toBe(false));
    expect((await status()).problems[0]?.tool).toBe('worker');
    expect(await say('worker')).toBe('old');
    write('worker.js', saying('mended'));
    await eventually(async () => expect(await say('worker')).toBe('mended'));
    expect((await status()).ok).toBe(true);
  });

  it('keeps the old code of a handler that was removed', async () => {
    rmSync(join(dir, 'worker.js'));
    await eventually(async () => expect((await status()).ok).toBe(false));
    expect(await say('worker')).toBe('old');
  });
});

describe('the sources of a handler', () => {
  it('are what it imports by relative paths, in every way to write that, in circles, too', async () => {
    write(
      'h.js',
      "import a, { b as c } from './a.js';\nexport * from \"./b.mjs\";\nimport './c.js';\nconst d = await import('./d.js');\nimport 'node:fs';\n",
    );
    write('a.js', "export { x } from './deep.js'; import('./h.js');\n");
    for (const name of ['b.mjs', 'c.js', 'd.js', 'deep.js']) write(name, 'export const x = 1;\n');
    for (const name of ['h.js', 'a.js', 'b.mjs', 'c.js', 'd.js', 'deep.js']) {
      const sources = await HandlerSources.read(join(dir, 'h.js'), true);
      expect([name, await sources.haveChanged()]).toEqual([name, false]);
      writeFileSync(join(dir, name), ' \n', { flag: 'a' });
      expect([name, await sources.haveChanged()]).toEqual([name, true]);
    }
  });

  it('written again as they were have not changed', async () => {
    write('h.js', saying('same'));
    const sources = await HandlerSources.read(join(dir, 'h.js'), true);
    write('h.js', saying('same'));
    expect(await sources.haveChanged()).toBe(false);
  });

  it('that have gone have changed, and those that come where an import pointed, too', async () => {
    write('h.js', "import './later.js';\n");
    const sources = await HandlerSources.read(join(dir, 'h.js'), true);
    write('later.js', 'export {};\n');
    expect(await sources.haveChanged()).toBe(true);
  });

  it('for a handler inside the gateway are its own file alone', async () => {
    write('h.js', "import './a.js';\n");
    write('a.js', 'export {};\n');
    const sources = await HandlerSources.read(join(dir, 'h.js'), false);
    write('a.js', 'export const x = 2;\n');
    expect(await sources.haveChanged()).toBe(false);
  });

  it('of a file made to be slow to read are read in time', async () => {
    write('h.js', `${'import '.repeat(100_000)}\nexport ${'a,'.repeat(200_000)}`);
    const work = () => HandlerSources.read(join(dir, 'h.js'), true);
    expect(await cpuMsOf(work)).toBeLessThan(5_000);
  });
});
