// tool-folder: what schema.json may say, where each part of it stands, and which folders are none.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../test/helpers/quiet-log.ts';
import { docOf, schemaOf, writeToolFolder } from '../../../test/helpers/tool-folder-kit.ts';
import { MemoryTrustedDefinitions } from '../../infra/definitions/memory-trusted-definitions.ts';
import { recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { toolFolderLoader } from './index.ts';
import { optionsSchema } from './options.ts';

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'ute-tool-folder-'))));
afterEach(() => rmSync(dir, { recursive: true }));

function loaderOf(options: object = {}) {
  const clock = new FakeClock();
  const trustedDefinitions = new MemoryTrustedDefinitions({
    clock,
    log: quietLog,
    metrics: recordingMetrics(),
  });
  const needs = { clock, log: quietLog, configDir: dir, trustedDefinitions };
  return { clock, loader: toolFolderLoader.create(needs)(optionsSchema.parse({ path: '.', ...options })) };
}
const load = (options: object = {}) => loaderOf(options).loader.load(new AbortController().signal);

describe('a folder', () => {
  it('is a declaration: its own spellings, its documentation, its handler', async () => {
    const said = {
      version: '2.0.0',
      requiresConfirmation: true,
      timeoutMs: 700,
      outputSchema: { type: 'object' },
    };
    writeToolFolder(dir, 'find', {
      schema: schemaOf('find', { ...said, implementation_config: { concurrent: true } }),
    });
    const { tools, problems } = await load();
    expect(problems).toEqual([]);
    expect(tools[0]).toMatchObject({
      baseDir: join(dir, 'find'),
      value: {
        name: 'find',
        description: 'Does find.',
        tool_type: 'javascript',
        input_schema: { type: 'object' },
        output_schema: { type: 'object' },
        timeout_ms: 700,
        implementation_config: { handler: './handler.js', export: 'execute', concurrent: true },
        metadata: {
          category: 'utility',
          version: '2.0.0',
          requires_approval: true,
          summary: 'Does find.\nAnd no more.',
          documentation: docOf('find').trim(),
        },
      },
    });
  });

  it('knows where each part was written', async () => {
    writeToolFolder(dir, 'find', { schema: schemaOf('find', { timeoutMs: 7 }) });
    const [tool] = (await load()).tools;
    const at = (...path: (string | number)[]) => tool?.locate(path);
    const schema = join(dir, 'find', 'schema.json');
    expect(at('name')).toMatchObject({ file: schema, line: 2 });
    expect(at('metadata', 'category')).toMatchObject({ file: schema, line: 3 });
    expect(at('input_schema', 'properties', 'text', 'type')).toMatchObject({ file: schema, line: 8 });
    expect(at('timeout_ms')).toMatchObject({ file: schema, line: 13 });
    expect(at('metadata', 'summary')).toMatchObject({ file: join(dir, 'find', 'doc_summary.md'), line: 1 });
    expect(at('metadata', 'documentation')).toMatchObject({ file: join(dir, 'find', 'doc.md') });
    expect(at('implementation_config', 'handler')).toMatchObject({ file: join(dir, 'find', 'handler.js') });
  });

  it.each([
    [{ name: 'find' }, 'toolId', 'says the same as name'],
    [{ metadata: { summary: 'x' } }, 'metadata.summary', 'comes from doc_summary.md'],
    [{ metadata: { documentation: 'x' } }, 'metadata.documentation', 'comes from doc.md'],
    [{ tool_type: 'shell' }, 'tool_type', 'is always javascript'],
    [
      { implementation_config: { handler: '../x.js' } },
      'implementation_config.handler',
      'is not for a tool folder',
    ],
    [{ jsonSchema: { $schema: 'http://json-schema.org/draft-07/schema#' } }, 'jsonSchema.$schema', '2020-12'],
    [{ category: undefined }, undefined, 'category is missing'],
    [{ jsonSchema: undefined }, undefined, 'jsonSchema is missing'],
  ])('with %j is refused at its place', async (more, path, message) => {
    writeToolFolder(dir, 'find', { schema: schemaOf('find', more) });
    const { problems } = await load();
    expect(problems).toMatchObject([
      {
        file: join(dir, 'find', 'schema.json'),
        line: expect.any(Number),
        tool: 'find',
        message: expect.stringContaining(message),
      },
    ]);
    expect(problems[0]?.path).toBe(path);
  });

  it('whose schema.json is hostile is a problem, not a crash', async () => {
    const deep = `{"jsonSchema":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    writeToolFolder(dir, 'deep', { schema: deep });
    writeToolFolder(dir, 'proto', { schema: '{"__proto__": {"category": "x"}, "jsonSchema": {}}' });
    writeToolFolder(dir, 'large', { schema: `{"a":"${'x'.repeat(300_000)}"}` });
    const { problems } = await load();
    expect(new Set(problems.map(({ tool }) => tool))).toEqual(new Set(['deep', 'large', 'proto']));
  });
});

it('folders without a file of a tool, hidden ones and those of infrastructure are none', async () => {
  writeToolFolder(dir, 'find');
  for (const name of ['_core', '.git', 'empty', 'node_modules']) mkdirSync(join(dir, name));
  writeToolFolder(dir, '_build');
  writeFileSync(join(dir, 'handler.js'), '');
  symlinkSync(join(dir, 'nowhere'), join(dir, 'dangling'));
  const { tools, problems } = await load();
  expect([tools.length, problems]).toEqual([1, []]);
});

it('a folder that holds one of the four files lacks the others', async () => {
  mkdirSync(join(dir, 'half'));
  writeFileSync(join(dir, 'half', 'handler.js'), 'export const execute = () => 1;\n');
  expect((await load()).problems.map(({ file }) => file.slice(dir.length))).toEqual([
    '/half/schema.json',
    '/half/doc_summary.md',
    '/half/doc.md',
  ]);
});

it('tells of every change of what it has read, and of no other', async () => {
  writeToolFolder(dir, 'find');
  const { loader, clock } = loaderOf();
  const stopped = new AbortController();
  await loader.load(stopped.signal);
  let told = 0;
  const watching = loader.watch?.(() => (told += 1), stopped.signal);
  const waits = () => eventually(() => clock.pendingTimers === 1, 'it waits for the next look');
  const look = async () => {
    await waits();
    await clock.advance(1_000);
    await waits();
  };
  await look();
  expect(told).toBe(0);
  writeToolFolder(dir, 'find', { summary: 'Finds.\nEverything.\n' });
  await look();
  expect(told).toBe(1);
  await loader.load(stopped.signal);
  writeToolFolder(dir, 'other');
  await look();
  expect(told).toBe(2);
  stopped.abort();
  await watching;
});

it('a version is for the registry alone', () => {
  expect(optionsSchema.safeParse({ path: 'x', version: '1.0.abc123de' }).success).toBe(false);
  expect(optionsSchema.safeParse({ path: 'x', serve: 'registry', version: '1.0.abc123de' }).success).toBe(
    true,
  );
});
