// The javascript executor with real modules on disk, in worker threads and inside the process: loading, reloading, context.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import type { CallEvent, ToolCall } from '../../src/contract/call/tool-call.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { refusalOf, successOf } from '../../src/core/settle.ts';
import { functionsOf, type ToolFunction } from '../../src/contract/tool/tool-function.ts';
import { javascriptExecutor } from '../../src/executors/javascript/index.ts';
import type { JsOptions } from '../../src/executors/javascript/options.ts';
import type { NestedCalls } from '../../src/ports/nested-calls.ts';
import { callOf, functionOf, specOf } from '../helpers/call-kit.ts';
import { javascriptNeeds } from '../helpers/javascript-kit.ts';

let baseDir: string;

beforeEach(async () => {
  baseDir = await mkdtemp(join(tmpdir(), 'ute-javascript-'));
});
afterEach(() => rm(baseDir, { recursive: true }));

const needs = javascriptNeeds();
const { log } = needs;
/** What callTool reaches: a tool that echoes, one that fails. */
const nestedCalls: NestedCalls = {
  run: async (parent, tool, args) =>
    tool === 'echo'
      ? successOf(parent, { data: { args, by: parent.id } }, 1 << 20)
      : refusalOf(parent, new ToolFailure('CONFLICT', 'Taken.', { reason: 'SLOT_TAKEN', details: { tool } })),
};
const executor = javascriptExecutor.create({ ...needs, nestedCalls });
/** What each log line of a call says of it. */
const CALLER = {
  callId: 'call-1',
  principalId: 'key00001',
  tenantId: 'acme',
  sessionId: undefined,
  traceId: undefined,
};
afterAll(() => executor.close?.());

function prepare(handler: string, fn: ToolFunction = functionOf({ baseDir }), more: Partial<JsOptions> = {}) {
  return executor.prepare({ function: fn, options: { handler, trusted: true, ...more } });
}

async function write(text: string, name = 'handler.js'): Promise<string> {
  await writeFile(join(baseDir, name), text);
  return name;
}

async function run(
  text: string,
  changes: Partial<ToolCall> = {},
  emit: (event: CallEvent) => void = () => {},
  mode: Partial<JsOptions> = {},
) {
  const prepared = await prepare(await write(text), undefined, mode);
  return prepared.execute(callOf(changes), emit);
}

/** The functions of a tool with the actions `add` and `list`. */
function actionsOf(): readonly ToolFunction[] {
  const action = (name: string) => ({ name, description: name, parameters: [] });
  return functionsOf(specOf({ baseDir, name: 'math', actions: [action('add'), action('list')] }));
}

describe('loading a handler', () => {
  it('refuses a file that is not there, is a folder, or is no ES module by name', async () => {
    await expect(prepare('missing.js')).rejects.toThrow('handler: there is no file "missing.js"');
    await expect(prepare('handler.ts')).rejects.toThrow('expected the path of a .js or .mjs file');
    await expect(prepare('')).rejects.toThrow('expected the path of a .js or .mjs file');
  });

  it('says what a module exports when the function is not there', async () => {
    const name = await write('export const a = 1; export function b() {}');
    await expect(prepare(name)).rejects.toThrow('exports no function named execute; it exports a, b.');
    await expect(prepare(name, undefined, { export: 'a' })).rejects.toThrow('no function named a;');
    await expect(prepare(name, undefined, { export: 'toString' })).rejects.toThrow(
      'no function named toString;',
    );
  });

  it('says why a module cannot be imported', async () => {
    const name = await write('throw new RangeError("at load")');
    await expect(prepare(name)).rejects.toThrow(
      'handler: handler.js cannot be imported: RangeError: at load',
    );
  });

  it('picks up changed content, while what was prepared before keeps the old', async () => {
    const before = await prepare(await write('export const execute = () => "old"'));
    const after = await prepare(await write('export const execute = () => "new"'));
    expect(await before.execute(callOf(), () => {})).toEqual({ data: 'old' });
    expect(await after.execute(callOf(), () => {})).toEqual({ data: 'new' });
  });

  it('keeps a module’s state over reloads that did not change it', async () => {
    const name = await write('let n = 0; export const execute = () => ++n');
    for (const expected of [1, 2]) {
      expect(await (await prepare(name)).execute(callOf(), () => {})).toEqual({ data: expected });
    }
  });

  it('takes the export named like the action, or execute, which is told the action', async () => {
    const name = await write('export const add = () => "own"; export const execute = (_, c) => c.action');
    const [add, list] = actionsOf();
    expect(await (await prepare(name, add)).execute(callOf(), () => {})).toEqual({ data: 'own' });
    expect(await (await prepare(name, list)).execute(callOf(), () => {})).toEqual({ data: 'list' });
    expect(await (await prepare(name, add, { export: 'execute' })).execute(callOf(), () => {})).toEqual({
      data: 'add',
    });
  });

  it('refuses options that mean nothing together', () => {
    const options = { handler: 'a.js', trusted: true, concurrent: true };
    const parsed = javascriptExecutor.optionsSchema.safeParse(options);
    expect(parsed.error?.issues[0]).toMatchObject({ path: ['concurrent'] });
  });
});

const IN_WORKER: Partial<JsOptions> = { trusted: undefined };

describe.each([
  ['inside the process', {}],
  ['in a worker thread', IN_WORKER],
  ['in a shared worker thread', { ...IN_WORKER, concurrent: true as const }],
])('running a handler %s', (_where, mode) => {
  it('gives it the arguments and the call around them', async () => {
    const text = `export const execute = async (args, context) => {
      const { callId, sessionId, agentId, userId, tenantId, mode, tool, action, config, secrets, signal } = context;
      return { args, callId, sessionId, agentId, userId, tenantId, mode, tool, action, config, secrets, aborted: signal.aborted };
    }`;
    const changes: Partial<ToolCall> = {
      arguments: { a: [1] },
      context: { sessionId: 's', agentId: 'a', userId: 'u', tenantId: 't', mode: 'voice' },
      config: { c: 1 },
      sensitiveConfig: { token: 'x' },
    };
    const { data } = await run(text, changes, undefined, mode);
    expect(data).toEqual({
      args: { a: [1] },
      callId: 'call-1',
      sessionId: 's',
      agentId: 'a',
      userId: 'u',
      tenantId: 't',
      mode: 'voice',
      tool: 'greet',
      action: undefined,
      config: { c: 1 },
      secrets: { token: 'x' },
      aborted: false,
    });
  });

  it('does not let it change the call', async () => {
    const args: JsonObject = { a: 1, deep: { b: [1] } };
    const change = 'export const execute = (args) => { args.a = 2; args.deep.b.push(2); }';
    await run(change, { arguments: args }, undefined, mode);
    expect(args).toEqual({ a: 1, deep: { b: [1] } });
    const text = 'export const execute = (_, context) => { context.extra = 1; }';
    const changing = run(text, {}, undefined, mode);
    await expect(changing).rejects.toMatchObject({ reason: 'EXCEPTION' });
  });

  it('keeps secrets out of a context that is written as JSON', async () => {
    const text = 'export const execute = (_, c) => JSON.stringify(c)';
    const { data } = await run(text, { sensitiveConfig: { t: 's3cret' } }, undefined, mode);
    expect(data).toBe('{}');
  });

  it('passes on logs, progress and partial results as they come', async () => {
    const events: CallEvent[] = [];
    const text = `export const execute = (_, { log, progress, partial }) => {
      log.warn('careful');
      progress(7, 'half');
      progress();
      partial({ at: new Date(0) });
    }`;
    await run(text, {}, (event) => events.push(event), mode);
    expect(events).toEqual([
      { kind: 'log', level: 'warn', message: 'careful' },
      { kind: 'progress', fraction: 1, message: 'half' },
      { kind: 'progress' },
      { kind: 'partial', data: { at: '1970-01-01T00:00:00.000Z' } },
    ]);
    expect(log.lines.at(-1)).toEqual({
      level: 'warn',
      fields: { ...CALLER, tool: 'greet' },
      message: 'careful',
    });
  });

  it('fails with the call’s own reason when it gave up because the call was over', async () => {
    const reason = new ToolFailure('TIMEOUT', 'late');
    const text =
      'export const execute = (_, { signal }) => { signal.throwIfAborted(); throw new Error("x"); }';
    await expect(run(text, { signal: AbortSignal.abort(reason) }, undefined, mode)).rejects.toBe(reason);
  });

  it('calls other tools, and hears how they failed', async () => {
    const text = `export const execute = async (_, { callTool, callId }) => {
      const echoed = await callTool('echo', { n: [1] });
      const failed = await callTool('other').catch(({ name, type, reason, message, details }) => ({ name, type, reason, message, details }));
      const refused = await callTool('echo', [1]).catch(({ name }) => name);
      return { echoed, failed, refused };
    }`;
    const { data } = await run(text, {}, undefined, mode);
    expect(data).toEqual({
      echoed: { args: { n: [1] }, by: 'call-1' },
      failed: {
        name: 'ToolCallError',
        type: 'CONFLICT',
        reason: 'SLOT_TAKEN',
        message: 'Taken.',
        details: { tool: 'other' },
      },
      refused: 'TypeError',
    });
    const uncaught = run('export const execute = (_, c) => c.callTool("other")', {}, undefined, mode);
    await expect(uncaught).rejects.toMatchObject({ type: 'CONFLICT', reason: 'SLOT_TAKEN', origin: 'tool' });
  });

  it('answers in the envelope, with intents', async () => {
    const text =
      'export const execute = () => ({ ok: true, data: 1, intents: [{ type: "END_VOICE_SESSION" }] })';
    expect(await run(text, {}, undefined, mode)).toEqual({
      data: 1,
      intents: [{ type: 'END_VOICE_SESSION' }],
    });
    const failing =
      'export const execute = () => ({ ok: false, error: { type: "NOT_FOUND", message: "None." } })';
    await expect(run(failing, {}, undefined, mode)).rejects.toMatchObject({
      type: 'NOT_FOUND',
      message: 'None.',
    });
  });

  it('is told in a dry run', async () => {
    const prepared = await prepare(await write('export const execute = () => 1'), undefined, mode);
    expect(await prepared.render?.(callOf({ arguments: { a: 1 } }))).toEqual({
      handler: 'handler.js',
      export: 'execute',
      arguments: { a: 1 },
    });
  });

  it('turns an exception into a failure that says nothing of it, thrown at once or later', async () => {
    for (const text of ['throw new TypeError("pin 7")', 'return Promise.reject(new TypeError("pin 7"))']) {
      const thrown = run(`export const execute = () => { ${text} }`, {}, undefined, mode);
      await expect(thrown).rejects.toMatchObject({
        type: 'PERMANENT',
        reason: 'EXCEPTION',
        message: expect.not.stringMatching(/TypeError|pin 7/) as string,
        cause: expect.objectContaining({ message: 'pin 7' }) as unknown,
      });
    }
  });
});

describe('in worker threads', () => {
  it('a handler hears of the end of its call, and its thread goes on', async () => {
    const text = `
      let heard = null;
      import { threadId } from 'node:worker_threads';
      export const wait = (_, { signal, progress }) => new Promise((_, fail) => {
        signal.addEventListener('abort', () => {
          heard = [signal.reason.type, signal.reason.message, threadId];
          fail(signal.reason);
        });
        progress();
      });
      export const look = () => ({ heard, threadId });`;
    const name = await write(text);
    const wait = await prepare(name, undefined, { ...IN_WORKER, export: 'wait' });
    const look = await prepare(name, undefined, { ...IN_WORKER, export: 'look' });
    const aborter = new AbortController();
    const reason = new ToolFailure('CANCELLED', 'nobody waits');
    const waiting = wait.execute(callOf({ signal: aborter.signal }), () => aborter.abort(reason));
    await expect(waiting).rejects.toBe(reason);
    const { data } = await look.execute(callOf(), () => {});
    const { heard, threadId } = data as { heard: unknown; threadId: number };
    expect(heard).toEqual(['CANCELLED', 'nobody waits', threadId]);
  });

  it('what a module imports is imported anew when the module changed', async () => {
    await write('export const word = "old"', 'word.js');
    const text =
      'export { word } from "./word.js"; export const execute = async () => (await import("./word.js")).word;';
    const before = await prepare(await write(text), undefined, IN_WORKER);
    expect(await before.execute(callOf(), () => {})).toEqual({ data: 'old' });
    await write('export const word = "new"', 'word.js');
    const after = await prepare(await write(`${text}//`), undefined, IN_WORKER);
    expect(await after.execute(callOf(), () => {})).toEqual({ data: 'new' });
  });

  it('what a handler prints goes to the log and to who listens', async () => {
    const events: CallEvent[] = [];
    const text = 'export const execute = () => { console.log("one\\ntwo"); console.error("three"); }';
    await run(text, {}, (event) => events.push(event), IN_WORKER);
    expect(events).toEqual(
      [
        ['info', 'one'],
        ['info', 'two'],
        ['warn', 'three'],
      ].map(([level, message]) => ({ kind: 'log', level, message })),
    );
    expect(log.lines.at(-1)).toEqual({
      level: 'warn',
      fields: { ...CALLER, tool: 'greet', output: 'three' },
      message: 'a JavaScript handler printed',
    });
  });

  it('several calls of a concurrent tool share a thread, and each is told its own', async () => {
    const text = `
      import { threadId } from 'node:worker_threads';
      export const execute = ({ n }) => new Promise((done) => setTimeout(done, 50, { n, threadId }));`;
    const prepared = await prepare(await write(text), undefined, { ...IN_WORKER, concurrent: true });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => prepared.execute(callOf({ arguments: { n } }), () => {})),
    );
    const data = answers.map((answer) => answer.data as { n: number; threadId: number });
    expect(data.map(({ n }) => n)).toEqual(data.map((_, n) => n));
    expect(new Set(data.map(({ threadId }) => threadId)).size).toBeLessThanOrEqual(4);
  });

  it('says why a module cannot be imported, and what it exports', async () => {
    const broken = await write('throw new RangeError("at load")', 'broken.js');
    await expect(prepare(broken, undefined, IN_WORKER)).rejects.toThrow(
      'handler: broken.js cannot be imported: RangeError: at load',
    );
    const other = await write('export const a = 1; export function b() {}');
    await expect(prepare(other, undefined, IN_WORKER)).rejects.toThrow(
      'exports no function named execute; it exports a, b.',
    );
  });

  it('too large arguments are refused before anything runs', async () => {
    const prepared = await prepare(await write('export const execute = () => 1'), undefined, IN_WORKER);
    const call = callOf({ arguments: { text: 'x'.repeat(9 << 20) } });
    await expect(prepared.execute(call, () => {})).rejects.toMatchObject({ type: 'PAYLOAD_TOO_LARGE' });
  });
});

describe('the demo handlers', () => {
  const handlers = fileURLToPath(new URL('../../tools/handlers/', import.meta.url));

  async function demo(
    name: string,
    args: JsonObject,
    { action, ...changes }: Partial<ToolCall> & { action?: string } = {},
  ) {
    const actions = action === undefined ? undefined : [{ name: action, description: '', parameters: [] }];
    const [fn] = functionsOf(specOf({ baseDir: handlers, ...(actions === undefined ? {} : { actions }) }));
    const file = name === 'get_current_time' ? `../../packs/system/handlers/${name}.js` : `${name}.js`;
    const prepared = await prepare(file, fn);
    const emit = (): void => {};
    return prepared.execute(callOf({ arguments: args, ...changes }), emit);
  }

  it('echo gives back its arguments', async () => {
    expect(await demo('echo', { text: 'hi' })).toEqual({ data: { text: 'hi' } });
  });

  it('get_current_time knows IANA zones and refuses others', async () => {
    const { data } = await demo('get_current_time', { timezone: 'Asia/Kolkata' });
    const { iso, timezone, unix_ms } = data as { iso: string; timezone: string; unix_ms: number };
    expect([timezone, iso.slice(19)]).toEqual(['Asia/Kolkata', '+05:30']);
    expect(Date.parse(iso)).toBe(Math.floor(unix_ms / 1000) * 1000);
    expect(await demo('get_current_time', {})).toMatchObject({
      data: { timezone: 'UTC', iso: expect.stringMatching(/\+00:00$/) as string },
    });
    for (const timezone of ['Mars/Olympus', '+02:00', '', '../etc']) {
      await expect(demo('get_current_time', { timezone })).rejects.toMatchObject({
        type: 'VALIDATION',
        origin: 'tool',
      });
    }
  });

  it('end_call asks for the end of the session, after the farewell', async () => {
    expect((await demo('end_call', {})).intents).toEqual([{ type: 'END_VOICE_SESSION' }]);
    expect((await demo('end_call', { farewell: 'Bye!' })).intents).toEqual([
      { type: 'SET_PENDING_MESSAGE', message: 'Bye!' },
      { type: 'END_VOICE_SESSION' },
    ]);
  });

  it('delete_note deletes once', async () => {
    expect(await demo('delete_note', { note_id: 'note-1' })).toMatchObject({
      data: { deleted: 'note-1', remaining: 2 },
    });
    await expect(demo('delete_note', { note_id: 'note-1' })).rejects.toMatchObject({ type: 'NOT_FOUND' });
  });

  it('calendar lists, creates and checks, each tenant for itself', async () => {
    const range = { time_min: '2026-01-30T00:00:00Z', time_max: '2026-01-31T00:00:00Z' };
    const listed = async (tenantId: string) => {
      const { data } = await demo('calendar', range, { action: 'list_events', context: { tenantId } });
      return (data as { events: { summary: string }[] }).events.map(({ summary }) => summary);
    };
    expect(await listed('acme')).toEqual(['Team stand-up', 'Product review']);
    const created = await demo(
      'calendar',
      { title: 'Lunch', start_time: '2026-01-30T13:00:00+01:00', attendees: ['a@example.com'] },
      { action: 'create_event', context: { tenantId: 'acme' }, config: { default_event_duration: 45 } },
    );
    expect(created.data).toMatchObject({
      summary: 'Lunch',
      start: { dateTime: '2026-01-30T12:00:00.000Z' },
      end: { dateTime: '2026-01-30T12:45:00.000Z' },
      attendees: [{ email: 'a@example.com' }],
    });
    expect(await listed('acme')).toEqual(['Team stand-up', 'Lunch', 'Product review']);
    expect(await listed('other')).toHaveLength(2);
    const check = (date: string) =>
      demo(
        'calendar',
        { date, duration_minutes: 30 },
        { action: 'check_availability', context: { tenantId: 'acme' } },
      );
    expect(await check('2026-01-30T12:44:00Z')).toMatchObject({
      data: { available: false, conflicts: [{ summary: 'Lunch' }] },
    });
    expect(await check('2026-01-30T12:45:00Z')).toEqual({ data: { available: true, conflicts: [] } });
    await expect(check('tomorrow')).rejects.toMatchObject({ type: 'VALIDATION', origin: 'tool' });
  });
});
