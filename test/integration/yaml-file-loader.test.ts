// The yaml-file loader on real files: every problem at its line and column, and every change noticed once.
import { mkdir, mkdtemp, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { ExecutorPlugin, Loader } from '../../src/contract/plugin.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { yamlFileLoader } from '../../src/loaders/yaml-file/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Log } from '../../src/ports/telemetry/log.ts';
import { validateLoaded, type SpecRules } from '../../src/registry/checks/spec-validation.ts';
import { newValidationCache } from '../../src/registry/checks/validation-cache.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { eventually } from '../helpers/eventually.ts';

const fixture = (name: string) => new URL(`../fixtures/tools-yaml/${name}`, import.meta.url).pathname;
const folderOfFixtures = fixture('');
const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
const noSignal = new AbortController().signal;

function loaderOf(paths: readonly string[], clock: Clock = new SystemClock()): Loader {
  return yamlFileLoader.create({ clock, log: silent, configDir: '/nowhere' })({ paths: [...paths] });
}

const options = z.strictObject({ path: z.string(), connection: z.string().optional() });
const request: ExecutorPlugin<z.infer<typeof options>, object> = {
  name: 'request',
  summary: '',
  optionsSchema: options,
  connectionTypes: {
    records: z.strictObject({ type: z.literal('records'), base_url: z.url(), token: z.string() }),
  },
  placeholders: ({ path }) =>
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({ name, path: ['path'] })),
  create: () => ({ prepare: () => ({ execute: () => Promise.resolve({ data: null }) }) }),
};
const rules: SpecRules = {
  executors: new Map([['request', request]]),
  extensions: new Map([['cache', { name: 'cache', optionsSchema: z.strictObject({ ttl_ms: z.int() }) }]]),
};

async function check(name: string, held = rules) {
  const loaded = await loaderOf([fixture(name)]).load(noSignal);
  return validateLoaded([loaded], held);
}

let folder = '';
const at = (...names: string[]) => join(folder, ...names);
const tool = (name: string) => `tools:\n  - name: ${name}\n`;
const namesIn = async (loader: Loader) => {
  const { tools, problems } = await loader.load(noSignal);
  return problems.length > 0
    ? problems.map(({ message }) => message)
    : tools.map(({ value }) => (value as { name: string }).name);
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'yaml-file-'));
  return () => rm(folder, { recursive: true });
});

describe('a file of tools', () => {
  it('from the design document loads as it stands, but for the executor that is not there', async () => {
    const python = { ...request, name: 'python', optionsSchema: z.looseObject({}), placeholders: undefined };
    const { tools, problems } = await check('design-document.txt', {
      ...rules,
      executors: new Map([['python', python]]),
    });
    expect(tools.map(({ spec }) => spec.name)).toEqual(['file_reader']);
    expect(problems).toEqual([
      {
        file: fixture('design-document.txt'),
        line: 19,
        column: 16,
        tool: 'dangerous_delete',
        path: 'tool_type',
        message: '"shell": there is no executor of this name here; known: python',
      },
    ]);
    const everything = new Map([
      ['python', python],
      ['shell', { ...python, name: 'shell' }],
    ]);
    expect((await check('design-document.txt', { ...rules, executors: everything })).problems).toEqual([]);
  });

  it('may say everything there is to say', async () => {
    vi.stubEnv('YAML_TEST_HOST', 'records.example.com');
    const { tools, connections, problems } = await check('every-field.yaml');
    vi.unstubAllEnvs();
    expect(problems).toEqual([]);
    expect(connections.get('records')?.settings).toEqual({
      type: 'records',
      base_url: 'https://records.example.com/v1',
      token: 's3cret',
    });
    const [plain, calendar] = tools.map(({ spec }) => spec);
    expect(plain).toMatchObject({
      name: 'Find.record-1',
      inputSchema: { type: 'object', properties: { id: { type: 'string', maxLength: 64 } } },
      outputSchema: { type: 'object' },
      metadata: {
        version: '2.1.0-beta.1',
        category: 'retrieval',
        permissions: ['records:read'],
        riskLevel: 'medium',
        isDangerous: false,
        requiresApproval: true,
        readOnly: true,
        idempotent: true,
        modes: ['text'],
        tags: ['records'],
        summary: 'Finds a record by its id.\n- fast\n',
        documentation: 'The whole story.',
      },
      timeoutMs: 5000,
      retries: { maxAttempts: 3, baseDelayMs: 100, maxDelayMs: 10_000 },
      concurrency: [{ limit: 20, per: 'tool', maxQueue: 100, maxWaitMs: 5000 }],
      rateLimits: [
        { per: 'tenant', rate: 100, periodMs: 60_000, burst: 20 },
        { per: 'agent', rate: 1000, periodMs: 86_400_000, burst: 1000 },
      ],
      extensions: { cache: { ttl_ms: 60_000 } },
      baseDir: folderOfFixtures.replace(/\/$/, ''),
    });
    expect(calendar).toMatchObject({
      configSchema: {
        type: 'object',
        properties: {
          calendar_id: { type: 'string' },
          default_event_duration: { type: 'integer', default: 30 },
        },
      },
    });
    expect(calendar?.actions).toEqual([
      {
        name: 'create_event',
        description: 'Create a new calendar event',
        returns: 'Created event details',
        parameters: [
          { name: 'title', type: 'string', required: true },
          { name: 'start_time', type: 'datetime', required: false, default: '2026-01-30T14:00:00Z' },
          {
            name: 'duration',
            type: 'integer',
            required: false,
            default: 30,
            defaultFromConfig: 'default_event_duration',
            enum: [15, 30, 60],
            minValue: 5,
            maxValue: 480,
          },
        ],
      },
    ]);
  });

  it('has every problem told at once, each at its line and column', async () => {
    const { problems } = await check('problems.yaml');
    const lines = problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);
    expect(lines.map((text) => text.replace(folderOfFixtures, ''))).toEqual([
      '3:5 connections.broken.token: is required: expected a string',
      '4:15 connections.broken.base_url: expected a string, found a number',
      '6:5 description: is required: expected a string',
      '7:5 descripton: unknown key "descripton"; did you mean "description"?',
      '9:40 implementation_config.paht: unknown key "paht"; did you mean "path"?',
      '10:29 metadata.risk_level: expected "low", "medium", "high" or "critical", found "hihg"; did you mean "high"?',
      '10:35 metadata.requires_aproval: unknown key "requires_aproval"; did you mean "requires_approval"?',
      '11:17 timeout_ms: expected at least 1, found 0',
      expect.stringMatching(/^18:21 input_schema\.properties\.id\.type: /),
      '19:36 implementation_config.path: {idd} is not a parameter of this tool; did you mean {id}?',
      '19:60 implementation_config.connection: there is no connection "nowhere"',
      expect.stringMatching(/^20:5 retries: a tool is retried only if/),
      '21:11 name: the name "spelling" is taken already by the tool "spelling" in problems.yaml:6',
      '29:13 implementation_config.path: references such as ${env:…} and ${file:…} are allowed in connections only',
      '30:5 : expected a map with a name, found "just text"',
    ]);
  });
});

describe('paths', () => {
  it('may be folders: their YAML files by name, hidden ones and folders left out', async () => {
    await mkdir(at('sub.yaml'));
    for (const [name, text] of Object.entries({
      'b.yml': tool('b'),
      'a.yaml': tool('a'),
      '.c.yaml': tool('c'),
      'd.txt': tool('d'),
    })) {
      await writeFile(at(name), text);
    }
    expect(await namesIn(loaderOf([folder, at('a.yaml')]))).toEqual(['a', 'b']);
  });

  it('that are missing, not text, or broken are problems, all of them at once', async () => {
    await writeFile(at('latin.yaml'), Buffer.from('tools: [{ name: caf\u00e9 }]', 'latin1'));
    await writeFile(at('broken.yaml'), 'tools: "\n');
    await writeFile(at('deep.yaml'), `tools: ${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    const { problems } = await loaderOf([at('none.yaml'), folder]).load(noSignal);
    expect(problems.map(({ file, message }) => [file.slice(folder.length + 1), message])).toEqual([
      ['none.yaml', 'does not exist; expected a YAML file or a folder of them'],
      ['broken.yaml', expect.stringContaining('not valid YAML')],
      ['deep.yaml', 'is nested too deeply to be read'],
      ['latin.yaml', 'is not UTF-8 text'],
    ]);
  });

  it('keep parsed tools over a reload that fails', async () => {
    const loader = loaderOf([folder]);
    await writeFile(at('a.yaml'), `${tool('a')}    text: x\n`);
    const before = await loader.load(noSignal);
    await writeFile(at('a.yaml'), 'tools: "\n');
    expect((await loader.load(noSignal)).problems).toHaveLength(1);
    await writeFile(at('a.yaml'), `${tool('a')}    text: x\n`);
    expect((await loader.load(noSignal)).tools[0]?.value).toBe(before.tools[0]?.value);
  });
});

describe('connections', () => {
  it('are another connection when a secret they refer to changes', async () => {
    await writeFile(at('secret'), 'one');
    await writeFile(at('a.yaml'), 'connections:\n  db: { type: x, password: "${file:secret}" }\n');
    const loader = loaderOf([folder]);
    const [before] = (await loader.load(noSignal)).connections;
    await writeFile(at('secret'), 'two');
    const [after] = (await loader.load(noSignal)).connections;
    expect([before?.resolved['password'], after?.resolved['password']]).toEqual(['one', 'two']);
    expect(after?.contentHash).not.toBe(before?.contentHash);
  });

  it('whose references lead nowhere are problems at the reference', async () => {
    await writeFile(at('a.yaml'), 'connections:\n  db:\n    url: "${env:YAML_TEST_NOT_SET}"\n  five: 5\n');
    expect((await loaderOf([folder]).load(noSignal)).problems).toEqual([
      {
        file: at('a.yaml'),
        line: 3,
        column: 10,
        path: 'connections.db.url',
        message: 'the environment variable YAML_TEST_NOT_SET is not set',
      },
      {
        file: at('a.yaml'),
        line: 4,
        column: 9,
        path: 'connections.five',
        message: 'expected a map with a type and the settings of that type',
      },
    ]);
  });
});

describe('watching', () => {
  /** Runs a watch for the length of one story; `seen` loads again on each change, like the registry does. */
  async function watching(
    paths: readonly string[],
    story: (loader: Loader, seen: () => unknown) => Promise<void>,
  ): Promise<void> {
    const loader = loaderOf(paths);
    const ending = new AbortController();
    let last: unknown = await namesIn(loader);
    const changed = vi.fn<() => void>(() => void namesIn(loader).then((names) => (last = names)));
    const ended = loader.watch?.(changed, ending.signal);
    try {
      await story(loader, () => last);
    } finally {
      ending.abort();
      await ended;
    }
  }

  it('notices a file that is written, replaced, added and removed', async () => {
    await writeFile(at('a.yaml'), tool('a'));
    await watching([folder], async (_loader, seen) => {
      await writeFile(at('a.yaml'), tool('a2'));
      await eventually(() => expect(seen()).toEqual(['a2']));
      await writeFile(at('.new'), tool('a3'));
      await rename(at('.new'), at('a.yaml'));
      await eventually(() => expect(seen()).toEqual(['a3']));
      await writeFile(at('b.yaml'), tool('b'));
      await eventually(() => expect(seen()).toEqual(['a3', 'b']));
      await rm(at('a.yaml'));
      await eventually(() => expect(seen()).toEqual(['b']));
    });
  });

  it('notices a Kubernetes ConfigMap being swapped under the same name', async () => {
    for (const version of ['1', '2']) {
      await mkdir(at(`..${version}`));
      await writeFile(at(`..${version}`, 'tools.yaml'), tool(`v${version}`));
    }
    await symlink('..1', at('..data'));
    await symlink('..data/tools.yaml', at('tools.yaml'));
    await watching([at('tools.yaml')], async (_loader, seen) => {
      await symlink('..2', at('..next'));
      await rename(at('..next'), at('..data'));
      await eventually(() => expect(seen()).toEqual(['v2']));
    });
  });

  it('survives a folder that vanishes and comes back', async () => {
    await mkdir(at('tools'));
    await writeFile(at('tools', 'a.yaml'), tool('a'));
    await watching([at('tools')], async (_loader, seen) => {
      await rm(at('tools'), { recursive: true });
      await eventually(() => expect(seen()).toEqual([expect.stringContaining('does not exist')]));
      await mkdir(at('tools'));
      await writeFile(at('tools', 'a.yaml'), tool('back'));
      await eventually(() => expect(seen()).toEqual(['back']));
      await writeFile(at('tools', 'a.yaml'), tool('again'));
      await eventually(() => expect(seen()).toEqual(['again']));
    });
  });

  it('notices a secret that a connection refers to', async () => {
    await mkdir(at('secrets'));
    await mkdir(at('tools'));
    await writeFile(
      at('tools', 'a.yaml'),
      'connections:\n  db: { password: "${file:../secrets/password}" }\n',
    );
    await watching([at('tools')], async (_loader, seen) => {
      expect(seen()).toEqual([expect.stringContaining('does not exist')]);
      await writeFile(at('secrets', 'password'), 'x');
      await eventually(() => expect(seen()).toEqual([]));
    });
  });

  it('says nothing of files that were touched and hold what they held, and says each change once', async () => {
    const clock = new FakeClock();
    await writeFile(at('a.yaml'), tool('a'));
    const loader = loaderOf([folder], clock);
    await loader.load(noSignal);
    const ending = new AbortController();
    const changed = vi.fn<() => void>();
    const ended = loader.watch?.(changed, ending.signal);
    const passSeconds = async (seconds: number) => {
      for (let step = 0; step < seconds * 10; step += 1) {
        await clock.advance(100);
        // Real file system work stands behind each step.
        await readFile(at('a.yaml'));
      }
    };
    await utimes(at('a.yaml'), 1, 1);
    await passSeconds(25);
    expect(changed).not.toHaveBeenCalled();
    await writeFile(at('a.yaml'), tool('b'));
    await eventually(async () => {
      await passSeconds(1);
      expect(changed).toHaveBeenCalledTimes(1);
    });
    await passSeconds(25);
    expect(changed).toHaveBeenCalledTimes(1);
    ending.abort();
    await ended;
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends at once when it was called off before it began', async () => {
    await expect(loaderOf([folder]).watch?.(() => {}, AbortSignal.abort())).resolves.toBeUndefined();
  });
});

describe('a file of a thousand tools', () => {
  it('is read in slices, reloaded without parsing what did not change, and validated without checking it again', async () => {
    const text = `tools:\n${Array.from({ length: 1000 }, (_, index) => `  - name: t${index}\n    description: Tool ${index}\n    tool_type: request\n    implementation_config: { path: /x }\n`).join('')}`;
    await writeFile(at('a.yaml'), text);
    const loader = loaderOf([folder]);
    const cache = newValidationCache();
    let turns = 0;
    const count = setInterval(() => (turns += 1), 1);
    const first = await loader.load(noSignal);
    clearInterval(count);
    const before = validateLoaded([first], rules, cache);
    expect(turns).toBeGreaterThan(2);
    expect(before.problems).toEqual([]);
    await writeFile(at('a.yaml'), text.replace('description: Tool 500\n', 'description: Another\n'));
    const second = await loader.load(noSignal);
    const after = validateLoaded([second], rules, cache);
    expect(second.tools.filter(({ value }, index) => value !== first.tools[index]?.value)).toHaveLength(1);
    expect(
      after.tools
        .filter((checked, index) => checked !== before.tools[index])
        .map(({ spec }) => spec.description),
    ).toEqual(['Another']);
  });
});
