// tool-folder with serve: confirmed: nothing is served that nobody has confirmed, and what was confirmed stays what it was.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { MemoryTrustedDefinitions } from '../../infra/definitions/memory-trusted-definitions.ts';
import { toolFolderLoader } from './index.ts';
import { optionsSchema } from './options.ts';

let dir: string;
let log: ReturnType<typeof recordingLog>;
let trusted: MemoryTrustedDefinitions;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-custom-tools-'));
  log = recordingLog();
  trusted = new MemoryTrustedDefinitions({ clock: new FakeClock(), log, metrics: recordingMetrics() });
});
afterEach(() => rmSync(dir, { recursive: true }));

const SCHEMA = { description: 'Counts', jsonSchema: { type: 'object' } };
const HANDLER = 'def execute():\n    return 1\n';

function drop(name: string, handler = HANDLER, schema: object | string = SCHEMA): void {
  mkdirSync(join(dir, name), { recursive: true });
  writeFileSync(join(dir, name, 'schema.json'), typeof schema === 'string' ? schema : JSON.stringify(schema));
  writeFileSync(join(dir, name, 'handler.py'), handler);
}

const opened = () =>
  toolFolderLoader.create({ clock: new FakeClock(), log, configDir: dir, trustedDefinitions: trusted })(
    optionsSchema.parse({ path: '.', serve: 'confirmed' }),
  );
async function served(loader = opened()) {
  const { tools, problems } = await loader.load(new AbortController().signal);
  expect(problems).toEqual([]);
  return tools.map(({ value }) => value as { name: string; implementation_config: { source: string } });
}
async function waiting(tool: string) {
  const seen = (await trusted.list()).find((each) => each.tool === tool)?.seen;
  if (seen === undefined) throw new Error(`nothing of ${tool} waits`);
  return seen;
}
async function confirm(tool: string): Promise<void> {
  const seen = await waiting(tool);
  if (!('hash' in seen)) throw new Error(seen.refused);
  expect(await trusted.approve(tool, seen.hash, 'op')).toMatchObject({ approved: true });
}

it('what is dropped is not served until it is confirmed, not even at the first sight of the folder', async () => {
  drop('count');
  expect(await served()).toEqual([]);
  expect(log.lines.map(({ level, fields }) => [level, fields['tool'], fields['state']])).toContainEqual([
    'warn',
    'custom_count',
    'new',
  ]);
  await confirm('custom_count');
  expect(await served()).toMatchObject([
    {
      name: 'custom_count',
      tool_type: 'python',
      input_schema: SCHEMA.jsonSchema,
      implementation_config: { source: HANDLER },
    },
  ]);
});

it('a changed file is not taken: what was confirmed goes on, and the approval of another text is none', async () => {
  drop('count');
  const loader = opened();
  await served(loader);
  await confirm('custom_count');
  drop('count', 'def execute():\n    return 2\n');
  const [before] = await served(loader);
  expect(before?.implementation_config.source).toBe(HANDLER);
  const seen = await waiting('custom_count');
  drop('count', 'import os\n');
  await served(loader);
  const late = await trusted.approve('custom_count', 'hash' in seen ? seen.hash : '', 'op');
  expect(late).toEqual({ approved: false, why: 'other' });
  await confirm('custom_count');
  expect((await served(loader))[0]?.implementation_config.source).toBe('import os\n');
});

it('a tool whose folder is gone is gone, and is served again as it was when it is back', async () => {
  drop('count');
  const loader = opened();
  await served(loader);
  await confirm('custom_count');
  rmSync(join(dir, 'count'), { recursive: true });
  expect(await served(loader)).toEqual([]);
  drop('count');
  expect(await served(loader)).toHaveLength(1);
});

it.each([
  ['a link to a folder', () => symlinkSync(tmpdir(), join(dir, 'bad')), 'a link is not followed'],
  [
    'a handler that is a link',
    () => {
      drop('bad');
      rmSync(join(dir, 'bad', 'handler.py'));
      symlinkSync('/etc/passwd', join(dir, 'bad', 'handler.py'));
    },
    'is a link',
  ],
  [
    'a handler that is a pipe',
    () => {
      drop('bad');
      rmSync(join(dir, 'bad', 'handler.py'));
      execFileSync('mkfifo', [join(dir, 'bad', 'handler.py')]);
    },
    'is no regular file',
  ],
  ['a handler that is too large', () => drop('bad', '#'.repeat(200_000)), 'is larger than'],
  ['a handler that is missing', () => mkdirSync(join(dir, 'bad')), 'does not exist'],
  ['a schema that is no JSON', () => drop('bad', HANDLER, '{'), 'schema.json'],
  [
    'a schema with a key twice',
    () => drop('bad', HANDLER, '{"description":"a","description":"b"}'),
    'schema.json',
  ],
  [
    'a schema with a field of its own',
    () => drop('bad', HANDLER, { ...SCHEMA, implementation_config: {} }),
    'schema.json',
  ],
  ['a name that is not its own', () => drop('bad', HANDLER, { ...SCHEMA, toolId: 'delete_note' }), 'toolId'],
])(
  '%s is shown with the reason, cannot be confirmed, and keeps no other tool from being served',
  async (_, make, why) => {
    drop('good');
    make();
    await served();
    await confirm('custom_good');
    expect(await waiting('custom_bad')).toMatchObject({ refused: expect.stringContaining(why) as string });
    expect((await served()).map(({ name }) => name)).toEqual(['custom_good']);
  },
);

it('names that are none are refused, and hidden folders are none', async () => {
  drop('Delete Note');
  drop('.hidden');
  drop('_core');
  await served();
  expect((await trusted.list()).map(({ remoteName }) => remoteName)).toEqual(['Delete Note']);
  expect(await waiting('custom_Delete Note')).toMatchObject({
    refused: expect.stringContaining('name') as string,
  });
});

it('however many are dropped, those that were confirmed are served, and the log says how many are not read', async () => {
  drop('zebra');
  await served();
  await confirm('custom_zebra');
  for (let n = 0; n < 203; n += 1) mkdirSync(join(dir, `a${n}`));
  expect(await served()).toMatchObject([{ name: 'custom_zebra' }]);
  expect(await trusted.list()).toHaveLength(200);
  expect(log.lines.map(({ fields }) => fields['unread'])).toContain(4);
});

it('a folder that is not there is a problem, and an empty one is none', async () => {
  expect(await served()).toEqual([]);
  const missing = toolFolderLoader.create({
    clock: new FakeClock(),
    log,
    configDir: dir,
    trustedDefinitions: trusted,
  })(optionsSchema.parse({ path: 'nowhere', serve: 'confirmed' }));
  const { problems } = await missing.load(new AbortController().signal);
  expect(problems).toMatchObject([
    { file: join(dir, 'nowhere'), message: expect.stringContaining('does not exist') as string },
  ]);
});
