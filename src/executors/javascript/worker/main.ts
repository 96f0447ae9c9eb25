// The code around handlers in a worker thread: loads them, runs them, and alone speaks with the gateway.
import { AsyncLocalStorage } from 'node:async_hooks';
import { parentPort, type Worker } from 'node:worker_threads';
import { writeJson } from '../../../lib/json/write-json.ts';
import { HandlerContext } from '../handler-context.ts';
import type { FromWorker, Greeting, ToWorker } from '../threads/messages.ts';
import { reportOf } from '../thrown-report.ts';
import { HandlerModules, type Exports } from './handler-modules.ts';
import { IdleReport } from './idle-report.ts';
import { Leftovers } from './leftovers.ts';
import { PrintedText } from './printed-text.ts';
import { PrototypeWatch } from './prototype-watch.ts';
import { RunningCall, type Post } from './running-call.ts';
import { countSharedMemory } from './shared-memory.ts';

type Handler = (args: unknown, context: HandlerContext) => unknown;
type Outcome = Pick<FromWorker, 'kind' | 'body'>;

const { stringify } = JSON;
const watch = new PrototypeWatch();
const calls = new Map<string, RunningCall>();
const isBusy = () => calls.size > 0;
/** Whose code is running, through timers and promises. */
const running = new AsyncLocalStorage<RunningCall>();
const leftovers = new Leftovers(isBusy, () => running.getStore() !== undefined);
const modules = new HandlerModules(watch, leftovers);

if (parentPort === null) throw new Error('main.ts runs in a worker thread');
const greeted = parentPort;
greeted.once('message', (greeting: Greeting) => {
  // A handler can import the public port: what it writes there goes nowhere.
  greeted.close();
  serve(greeting);
});

function serve({ port, limits, sharedMemory }: Greeting): void {
  countSharedMemory(sharedMemory);
  const send = port.postMessage.bind(port);
  const post: Post = (kind, id, body) => send({ kind, id, body, spoiled: false } satisfies FromWorker);
  const idle = new IdleReport(leftovers, isBusy, (body) => post('idle', '', body));
  const finish = (call: RunningCall, { kind, body }: Outcome, spoiled: boolean) => {
    if (!call.end()) return;
    calls.delete(call.id);
    send({ kind, id: call.id, body, spoiled: spoiled || watch.spoiled } satisfies FromWorker);
    idle.answered();
  };
  const lost = (thrown: unknown) => {
    const call = running.getStore();
    const report = reportOf(thrown);
    if (call === undefined || call.over) send({ kind: 'stray', id: '', body: report, spoiled: true });
    else finish(call, { kind: 'thrown', body: report }, true);
  };
  process.on('worker', endWithItsCall);
  process.on('uncaughtException', lost);
  process.on('unhandledRejection', lost);
  catchOutput(post);
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'call' || message.kind === 'check') idle.read();
    switch (message.kind) {
      case 'load':
        return void modules.load(message.module).catch(() => {});
      case 'check':
        return void check(message, post).then(() => idle.answered());
      case 'call': {
        const call = new RunningCall(message.id, message.body, limits.maxMessageBytes, post);
        calls.set(call.id, call);
        const run = () => outcomeOf(call, message.url, message.name, limits.maxMessageBytes);
        return void running.run(call, run).then((outcome) => finish(call, outcome, false));
      }
      case 'cancel':
        post('cancelling', message.id, '');
        return calls
          .get(message.id)
          ?.abort(Object.assign(new Error(message.message), { type: message.type }));
      case 'reply':
        return calls.get(message.id)?.replied(message.step, message.body);
    }
  });
  post('ready', '', '');
}

/** A thread that a handler starts is part of the call: nothing else would ever end it. */
function endWithItsCall(nested: Worker): void {
  const call = running.getStore();
  if (call === undefined || call.over) void nested.terminate();
  else call.ends(() => void nested.terminate());
}

async function check({ id, module }: ToWorker & { kind: 'check' }, post: Post): Promise<void> {
  try {
    const found = await modules.load(module);
    const exported = Object.keys(found);
    const functions = exported.filter((name) => typeof found[name] === 'function');
    post('exports', id, stringify({ exported, functions }));
  } catch (error) {
    post('thrown', id, reportOf(error));
  }
}

async function outcomeOf(call: RunningCall, url: string, name: string, maxLength: number): Promise<Outcome> {
  let handler: unknown;
  try {
    const found: Exports | undefined = await modules.find(url);
    handler = found?.[name];
    if (typeof handler !== 'function') throw new Error('the module is not there');
  } catch (error) {
    return { kind: 'unusable', body: `HANDLER ${String(error)}`.slice(0, 2_000) };
  }
  let returned: unknown;
  try {
    leftovers.begin();
    returned = await (handler as Handler)(call.arguments, new HandlerContext(call));
  } catch (thrown) {
    return { kind: 'thrown', body: reportOf(thrown) };
  }
  return encoded(returned, maxLength);
}

/** Written here, in the thread's own memory and time: what cannot be passed on never gets out. */
function encoded(returned: unknown, maxLength: number): Outcome {
  try {
    const body = writeJson(returned) ?? 'null';
    return body.length > maxLength ? { kind: 'unusable', body: 'TOO_LARGE' } : { kind: 'returned', body };
  } catch (error) {
    const tooLong = error instanceof RangeError && error.message === 'Invalid string length';
    return { kind: 'unusable', body: tooLong ? 'TOO_LARGE' : 'NOT_JSON' };
  }
}

/** What is printed belongs to the call that prints it, and never waits in a pipe. */
function catchOutput(post: Post): void {
  const besides = new PrintedText((level, text) => post('printed', '', stringify({ level, text })));
  for (const [stream, level] of [
    [process.stdout, 'info'],
    [process.stderr, 'warn'],
  ] as const) {
    stream.write = (chunk: unknown, encoding?: unknown, done?: unknown): boolean => {
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString('utf8');
      const call = running.getStore();
      (call === undefined || call.over ? besides : call.printed).push(level, text);
      const written = typeof encoding === 'function' ? encoding : done;
      if (typeof written === 'function') process.nextTick(written);
      return true;
    };
  }
}
