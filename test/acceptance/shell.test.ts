// Shell tools against hostile arguments: no value becomes an option, a path outside, or a second command.
import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import type { PreparedFunction } from '../../src/contract/plugin.ts';
import type { CallEvent, ToolCall } from '../../src/contract/call/tool-call.ts';
import type { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { shellExecutor, type ShellNeeds } from '../../src/executors/shell/index.ts';
import { shellOptionsSchema } from '../../src/executors/shell/options-schema.ts';
import { shellSettingsSchema } from '../../src/executors/shell/settings.ts';
import { callOf, functionOf, principalOf, recordingLog, recordingMetrics } from '../helpers/call-kit.ts';
import { BACKEND_HERE } from '../helpers/rungs.ts';
import { SandboxBench } from '../helpers/sandbox.ts';

const clock = new SystemClock();
let bench: SandboxBench;

beforeAll(() => {
  bench = new SandboxBench();
});
afterAll(() => bench.close());

interface Extras {
  readonly isDangerous?: boolean;
  readonly schema?: JsonObject;
  readonly settings?: JsonObject;
  readonly sandbox?: ShellNeeds['sandbox'];
}

function prepare(
  options: JsonObject,
  { isDangerous = false, schema = {}, settings = {}, sandbox = bench.sandbox }: Extras = {},
): PreparedFunction {
  const needs = {
    sandbox,
    clock,
    log: recordingLog(),
    metrics: recordingMetrics(),
    settings: shellSettingsSchema('/').parse(settings),
  };
  const prepared = shellExecutor.create(needs).prepare({
    function: functionOf({ inputSchema: schema, metadata: { isDangerous } }),
    options: shellOptionsSchema.parse(options),
  });
  if (prepared instanceof Promise) throw new Error('prepare is not asynchronous');
  return prepared;
}

const callWith = (args: JsonObject, changes: Partial<ToolCall> = {}): ToolCall =>
  callOf({ arguments: args, deadline: clock.now() + 20_000, ...changes });

async function run(
  options: JsonObject,
  args: JsonObject = {},
  extras: Extras = {},
  changes: Partial<ToolCall> = {},
) {
  const { data } = await prepare(options, extras).execute(callWith(args, changes), () => undefined);
  return data as { exit_code: number; stdout: string; stderr: string; files?: JsonObject[] };
}

const refusalOf = async (promise: Promise<unknown>): Promise<ToolFailure> => {
  const outcome: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(Error);
  return outcome as ToolFailure;
};

/** Each argument on a line of its own, marked. */
const SHOW = ['printf', '--', '<%s>\\n'];

describe('arguments', () => {
  it.each([
    '$(id)',
    '`id`',
    '; id',
    '| id',
    '&& id',
    '> /tmp/x',
    '$HOME',
    '*',
    '~',
    '"quoted"',
    "it's",
    '\\',
    '{x}',
    '%s',
    '!!',
    '#',
  ])('shell syntax %j arrives as the text it is', async (value) => {
    expect((await run({ command: [...SHOW, '{v}'] }, { v: value })).stdout).toBe(`<${value}>\n`);
  });

  it('text of any kind arrives as one argument, letter by letter', async () => {
    const prepared = prepare({ command: [...SHOW, '{a}', '{b}'], slots: { a: 'text', b: 'text' } });
    const text = fc
      .string({ unit: 'grapheme', maxLength: 40 })
      .map((value) => value.replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, ''));
    await fc.assert(
      fc.asyncProperty(text, text, async (a, b) => {
        const { data } = await prepared.execute(callWith({ a, b }), () => undefined);
        expect(data).toMatchObject({ exit_code: 0, stdout: `<${a}>\n<${b}>\n` });
      }),
      { numRuns: 15 },
    );
  });

  it.each(['a\0b', 'a\u0007', '\u001b]0;title\u0007', '\ud800', 'a\u007f'])(
    'NUL, control characters and broken Unicode %j are refused',
    async (v) => {
      for (const type of ['string', 'text', 'path']) {
        const slots = { v: type };
        expect(await refusalOf(run({ command: [...SHOW, '{v}'], slots }, { v }))).toMatchObject({
          type: 'VALIDATION',
          reason: 'UNSAFE_ARGUMENT',
          partialSideEffects: false,
        });
      }
    },
  );

  it('a line end is text for a text slot, and refused where one line is meant', async () => {
    expect((await run({ command: [...SHOW, '{v}'], slots: { v: 'text' } }, { v: 'a\nb' })).stdout).toBe(
      '<a\nb>\n',
    );
    expect((await refusalOf(run({ command: [...SHOW, '{v}'] }, { v: 'a\nb' }))).reason).toBe(
      'UNSAFE_ARGUMENT',
    );
  });

  it.each(['-rf', '--help', '--no-preserve-root', '-', '--', '+x', '@/etc/passwd', '(x)'])(
    'the option %j cannot be injected',
    async (path) => {
      expect((await refusalOf(run({ command: 'ls {path}' }, { path }))).reason).toBe('UNSAFE_ARGUMENT');
    },
  );

  it('a name that looks like an option is a name for a path slot', async () => {
    const options = {
      command: 'cat {path}',
      slots: { path: 'path' },
      files: [{ path: '{path}', content: 'plain' }],
    };
    expect((await run(options, { path: '--help' })).stdout).toBe('plain');
  });

  it.each(['../../etc/passwd', '/etc/passwd', 'a/../../etc/passwd', 'file:///etc/passwd', '..', './..'])(
    'the path %j does not lead out of the workspace',
    async (path) => {
      const outcome = await run({ command: 'cat -- {path}', ok_exit_codes: [0, 1] }, { path });
      expect(outcome.stdout).toBe('');
      const strict = await refusalOf(run({ command: 'cat {path}', slots: { path: 'path' } }, { path }));
      expect(strict.reason).toBe('UNSAFE_ARGUMENT');
    },
  );

  it('an empty argument does not turn a folder into the root', async () => {
    expect((await refusalOf(run({ command: 'rm -r {dir}' }, { dir: '' }))).reason).toBe('UNSAFE_ARGUMENT');
    expect(() => prepare({ command: 'rm -r {dir}/' })).toThrow(/mixes a placeholder with text/);
  });

  it('a missing argument does not make a shorter command', async () => {
    expect(await refusalOf(run({ command: 'rm -r {a} {b}' }, { a: 'x' }))).toMatchObject({
      reason: 'UNSAFE_ARGUMENT',
    });
  });

  it('a list is not taken for several arguments', async () => {
    expect((await refusalOf(run({ command: 'ls {path}' }, { path: ['-l', '/'] }))).type).toBe('VALIDATION');
  });

  it('more than the kernel takes is refused before', async () => {
    expect((await refusalOf(run({ command: [...SHOW, '{v}'] }, { v: 'x'.repeat(200_000) }))).type).toBe(
      'VALIDATION',
    );
  });

  it('two spellings of one name are one file', async () => {
    const options = {
      command: 'cat {path}',
      slots: { path: 'path' },
      files: [{ path: 'caf\u00e9', content: 'one' }],
    };
    expect((await run(options, { path: 'cafe\u0301' })).stdout).toBe('one');
  });
});

describe('a tool that asks for too much is refused at load', () => {
  it.each([
    ['sh', '-c', '{v}'],
    ['/bin/bash', '{v}'],
    ['env', '{v}'],
    ['python3', '-c', '{v}'],
    ['find', '{v}'],
    ['tar', '{v}'],
    ['sed', '{v}'],
    ['xargs', '{v}'],
  ])('%s, whose arguments are programs, unless it is marked dangerous', (...command) => {
    expect(() => prepare({ command })).toThrow(/is_dangerous: true/);
    expect(() => prepare({ command }, { isDangerous: true })).not.toThrow();
  });

  it('more than gateway.yaml allows', () => {
    expect(() => prepare({ command: 'ls', limits: { memory_bytes: 2 ** 40 } })).toThrow(
      /more than the gateway allows/,
    );
  });

  it('a variable that changes how programs are loaded', () => {
    expect(() => prepare({ command: 'ls', env: { LD_PRELOAD: '/x' } })).toThrow(/LD_/);
  });

  it('files outside the workspace', () => {
    expect(() => prepare({ command: 'ls', collect: ['/etc/passwd'] })).toThrow(/below the workspace/);
  });
});

describe('results', () => {
  it('hold the exit code, both streams and the files', async () => {
    const options = {
      command: 'cp in.txt out.txt',
      files: [{ path: 'in.txt', content: 'Hello {name}' }],
      collect: ['out.txt', 'none.txt'],
    };
    expect(await run(options, { name: 'Ada' })).toEqual({
      exit_code: 0,
      stdout: '',
      stderr: '',
      files: [{ path: 'out.txt', text: 'Hello Ada' }],
    });
  });

  it('hold bytes that are no text as base64', async () => {
    const options = { command: 'head -c 3 /dev/zero', collect: [] };
    expect((await run(options)).stdout).toBe('\0\0\0');
    const copied = await run({ command: 'cp /usr/bin/true copy', collect: ['copy'] });
    expect(copied.files).toEqual([{ path: 'copy', base64: expect.stringMatching(/^f0VMR/) }]);
  });

  it('of another exit code are an error of the tool, with what it said', async () => {
    expect(await refusalOf(run({ command: 'ls no-such-file' }))).toMatchObject({
      type: 'PERMANENT',
      reason: 'EXIT_CODE',
      origin: 'tool',
      details: { exit_code: 2, stderr: expect.stringContaining('No such file') },
    });
    expect(await run({ command: 'ls no-such-file', ok_exit_codes: [0, 2] })).toMatchObject({ exit_code: 2 });
  });

  it('come from stdin where the tool says so', async () => {
    expect((await run({ command: 'wc -c', stdin: '{text}' }, { text: 'grüße\n' })).stdout.trim()).toBe('8');
  });

  it('that promise JSON and are none are OUTPUT_INVALID', async () => {
    expect(await refusalOf(run({ command: ['printf', '{{'], output: 'json' }))).toMatchObject({
      type: 'OUTPUT_INVALID',
      reason: 'NOT_JSON',
    });
    expect(await run({ command: ['printf', '[1]'], output: 'json' })).toEqual([1]);
  });

  it('are told line by line while the command runs', async () => {
    const events: CallEvent[] = [];
    await prepare({ command: ['printf', 'a\\nb\\nc'] }).execute(
      callWith({}),
      (event) => void events.push(event),
    );
    expect(events).toEqual(['a', 'b', 'c'].map((message) => ({ kind: 'log', level: 'info', message })));
  });

  it('say in the audit record which sandbox it was', async () => {
    const call = callWith({});
    await prepare({ command: 'true' }).execute(call, () => undefined);
    expect(call.progress.notes).toMatchObject({
      sandbox: BACKEND_HERE,
      sandbox_limits: expect.stringContaining('memory'),
    });
  });

  it('that never come are TIMEOUT at the deadline, and those without end OUTPUT_TOO_LARGE', async () => {
    const late = prepare({ command: 'sleep 60' }).execute(
      callWith({}, { deadline: clock.now() + 200 }),
      () => undefined,
    );
    expect((await refusalOf(late)).type).toBe('TIMEOUT');
    expect(await refusalOf(run({ command: 'yes' }))).toMatchObject({
      type: 'OUTPUT_TOO_LARGE',
      reason: 'OUTPUT_LIMIT',
    });
  });
});

describe('a dry run', () => {
  it('shows the final argv and runs nothing; values of the environment stay hidden', async () => {
    const options = {
      command: 'rm -- {path}',
      slots: { path: 'path' },
      env: { TOKEN: 'SECRET-1' },
      workspace: 'session',
    };
    const rendered = await prepare(options).render?.(
      callWith({ path: '-rf' }, { context: { sessionId: 's' } }),
    );
    expect(rendered).toMatchObject({
      argv: [expect.stringMatching(/\/rm$/), '--', './-rf'],
      environment: ['TOKEN'],
      workspace: 'session',
      sandbox: BACKEND_HERE,
    });
    expect(JSON.stringify(rendered)).not.toContain('SECRET-1');
  });

  it('is refused for what the call itself would be refused for', async () => {
    const prepared = prepare({ command: 'rm {path}' });
    await expect(async () => prepared.render?.(callWith({ path: '-rf' }))).rejects.toMatchObject({
      reason: 'UNSAFE_ARGUMENT',
    });
  });
});

describe("a session's workspace", () => {
  const write = { command: 'tee note.txt', stdin: '{text}', workspace: 'session' };
  const read = { command: 'cat note.txt', workspace: 'session', ok_exit_codes: [0, 1] };
  const as = (tenantId: string, sessionId: string): Partial<ToolCall> => ({
    principal: principalOf({ tenantId }),
    context: { sessionId },
  });

  it('is kept for the session, and for nobody else: not another tenant with the same session', async () => {
    await run(write, { text: 'mine' }, { isDangerous: true }, as('acme', 's1'));
    expect((await run(read, {}, {}, as('acme', 's1'))).stdout).toBe('mine');
    for (const other of [as('umbrella', 's1'), as('acme', 's2'), as('acme","s1', ''), as('', 'acme","s1')]) {
      const result = await run(read, {}, {}, other).catch((error: ToolFailure) => ({
        stdout: '',
        reason: error.reason,
      }));
      expect(result.stdout).toBe('');
    }
  });

  it('is kept for one user and one agent, whoever else names the session with the same key', async () => {
    const of = (userId: string, agentId: string): Partial<ToolCall> => ({
      principal: principalOf({ tenantId: 'acme' }),
      context: { sessionId: 's-of-ann', userId, agentId },
    });
    await run(write, { text: 'for ann' }, { isDangerous: true }, of('ann', 'a1'));
    expect((await run(read, {}, {}, of('ann', 'a1'))).stdout).toBe('for ann');
    for (const other of [
      of('bob', 'a1'),
      of('ann', 'a2'),
      of('', 'a1'),
      of('anna', '1'),
      as('acme', 's-of-ann'),
    ])
      expect((await run(read, {}, {}, other)).stdout).toBe('');
  });

  it('belongs to the tenant of the credential, whatever the context says', async () => {
    const forged = {
      principal: principalOf({ tenantId: 'umbrella' }),
      context: { sessionId: 's1', tenantId: 'acme' },
    };
    expect((await run(read, {}, {}, forged)).stdout).toBe('');
  });

  it('needs a session', async () => {
    expect(await refusalOf(run(read, {}, {}, { context: {} }))).toMatchObject({
      type: 'VALIDATION',
      reason: 'SESSION_REQUIRED',
    });
  });

  it('survives the names an agent may choose for its session', async () => {
    for (const sessionId of ['../../etc', '/', 'a\0b', '.', '\u202e', 'x'.repeat(5000)]) {
      await run(write, { text: sessionId.length.toString() }, { isDangerous: true }, as('acme', sessionId));
      expect((await run(read, {}, {}, as('acme', sessionId))).stdout).toBe(String(sessionId.length));
    }
  });
});

describe('many at once', () => {
  it('wait in line; one more than may wait is refused, and who gives up leaves the line', async () => {
    const prepared = prepare({ command: 'sleep 0.3' }, { settings: { max_parallel: 1, max_queue: 1 } });
    const first = prepared.execute(callWith({}), () => undefined);
    const gone = new AbortController();
    await bench.sandbox.describe();
    const second = prepared.execute(callWith({}, { signal: gone.signal }), () => undefined);
    await new Promise((done) => setImmediate(done));
    expect(await refusalOf(prepared.execute(callWith({}), () => undefined))).toMatchObject({
      type: 'CONCURRENCY_LIMIT',
      reason: 'QUEUE_FULL',
    });
    gone.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    expect((await first).data).toMatchObject({ exit_code: 0 });
  });

  it('where there is no sandbox, tools load and every call is refused with what to install', async () => {
    const none = new SandboxBench({ backends: [] });
    try {
      const refusal = await refusalOf(run({ command: 'true' }, {}, { sandbox: none.sandbox }));
      expect(refusal).toMatchObject({
        type: 'UNAVAILABLE',
        reason: 'SANDBOX_UNAVAILABLE',
        partialSideEffects: false,
      });
      expect(refusal.message).toContain('apt-get install bubblewrap');
    } finally {
      await none.close();
    }
  });
});

it('a folder that the operator shows can be read, and not written', async () => {
  const dir = mkdtempSync(join(bench.dir, 'readable-'));
  chmodSync(dir, 0o755);
  const settings = { readable: [dir] };
  expect((await run({ command: ['ls', '-d', dir] }, {}, { settings })).stdout).toBe(`${dir}\n`);
  expect(await refusalOf(run({ command: ['touch', join(dir, 'x')] }, {}, { settings }))).toMatchObject({
    reason: 'EXIT_CODE',
  });
});
