// WorkerStarter: brings a worker to the point where calls cost nothing extra: started, greeted, modules imported.
import { dirname, isAbsolute } from 'node:path';
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { behindClosedFolder } from '../../../lib/files/closed-folder.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { ProcessSpawner } from '../../../ports/egress/process-spawner.ts';
import type { Answer } from './answer.ts';
import type { CallListener } from './pending-call.ts';
import { PythonWorker } from './python-worker.ts';
import type { EndReason } from './worker-options.ts';
import type { SandboxChoice } from '../sandbox-choice.ts';
import type { PythonSettings } from '../settings.ts';
import { confinementOf, modulePlaces, SPARE_PROCESSES, type WorkerKind } from '../pool/worker-kind.ts';
import type { LineListener } from './worker-output.ts';

const OLDEST_PYTHON = [3, 9] as const;
const HOW_TO_INSTALL = 'Install Python 3.9 or newer, or set executors.python.interpreter to one.';
/** In the words of those who start programs inside the sandbox. */
const NO_SUCH_PROGRAM =
  /^prlimit: failed to execute|^landlock_launcher: (?:there is no program|\[Errno 13\])/;

export const ignoreLines: CallListener = { onLine: () => undefined };

export interface StarterNeeds {
  readonly spawner: ProcessSpawner;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: PythonSettings;
  readonly sandbox: SandboxChoice;
  /** python/unified_tools/worker.py */
  readonly workerFile: string;
}

export interface WorkerOwner {
  readonly onEnd: (worker: PythonWorker, reason: EndReason) => void;
  readonly onCapacity: (worker: PythonWorker) => void;
  /** Asked late: there may be more than when the interpreter was started. */
  warmUps(): readonly WarmUp[];
  readonly signal: AbortSignal;
}

/** A check of a function in use, so that no call pays for an import. */
export interface WarmUp {
  readonly head: string;
  onAnswer(answer: Answer): void;
}

/** One check for each function, however many tools use it; all of them hear the answer. */
export function distinctWarmUps(inUse: ReadonlySet<WarmUp>): readonly WarmUp[] {
  const byHead = Map.groupBy(inUse, ({ head }) => head);
  return [...byHead].map(([head, users]) => ({
    head,
    onAnswer: (answer) => users.forEach((user) => user.onAnswer(answer)),
  }));
}

export class WorkerStarter {
  readonly #needs: StarterNeeds;
  readonly #kind: WorkerKind;

  constructor(needs: StarterNeeds, kind: WorkerKind) {
    this.#needs = needs;
    this.#kind = kind;
  }

  async start(owner: WorkerOwner): Promise<PythonWorker> {
    const confined = this.#needs.sandbox.confines(this.#kind.needsSandbox);
    return this.#launch(owner, typeof confined === 'boolean' ? confined : await confined);
  }

  /** A request outside any call: limited in time, on pain of death. */
  async ask(worker: PythonWorker, head: string, listener: CallListener): Promise<Answer> {
    const { clock, settings } = this.#needs;
    const disarm = clock.after(settings.startTimeoutMs, () => {
      const message = `The Python worker did not start or import its modules within ${settings.startTimeoutMs} ms.`;
      worker.kill('start_timeout', toolFailure('WORKER_START_FAILED', message));
    });
    try {
      return await worker.request({ head }, listener);
    } finally {
      disarm();
    }
  }

  async #launch(owner: WorkerOwner, confined: boolean): Promise<PythonWorker> {
    const { spawner, clock, log, settings, workerFile } = this.#needs;
    const { interpreter, mode } = this.#kind;
    const places = confined ? await modulePlaces(this.#kind, settings) : [];
    let lastLine = '';
    const onLine: LineListener = (level, output) => {
      lastLine = output;
      log[level]({ executor: 'python', output }, 'a Python worker printed');
    };
    const started = spawner.spawn({
      // -I: no PYTHON* variable and no user folder has a say. -B: writes nothing beside the tools. -u: prints at once.
      argv: [interpreter, '-I', '-B', '-u', workerFile],
      cwd: '/',
      env: { PATH: settings.path, LANG: 'C.UTF-8' },
      channel: true,
      ...(confined && { confinement: confinementOf(this.#kind, settings, places, dirname(workerFile)) }),
    });
    const child = await started.catch((error: unknown) => Promise.reject(withAdvice(error, interpreter)));
    const { onEnd, onCapacity, signal } = owner;
    const { maxFrameBytes } = settings;
    const forks = mode === 'fork';
    const worker = new PythonWorker(child, {
      maxFrameBytes,
      forks,
      clock,
      listener: onLine,
      onEnd,
      onCapacity,
    });
    const onAbort = () => worker.kill('closed', signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      await this.#greet(worker, { onLine }, confined, places);
      for (const warmUp of owner.warmUps()) {
        warmUp.onAnswer(await this.ask(worker, warmUp.head, { onLine }));
      }
      return worker;
    } catch (error) {
      worker.kill('died', error);
      await worker.outputOver;
      throw startFailure(error, lastLine, confined, interpreter);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #greet(
    worker: PythonWorker,
    listener: CallListener,
    confined: boolean,
    places: readonly string[],
  ): Promise<void> {
    const { settings } = this.#needs;
    const options = {
      mode: this.#kind.mode,
      folders: this.#kind.folders,
      modules: settings.modules,
      places,
      confined,
      max_frame_bytes: settings.maxFrameBytes,
      memory_bytes: settings.memoryBytes,
      // Only in a sandbox are the user's processes the worker's own.
      max_processes: confined ? settings.maxProcesses : null,
      spare_processes: confined ? settings.callsPerWorker + SPARE_PROCESSES : 0,
    };
    const answer = await this.ask(worker, `"op":"hello",${JSON.stringify(options).slice(1, -1)}`, listener);
    const { python, unreadable } = readGreeting(answer.ok ? answer.data : null);
    const [major = 0, minor = 0] = python.split('.').map(Number);
    const [wantedMajor, wantedMinor] = OLDEST_PYTHON;
    if (major !== wantedMajor || minor < wantedMinor) {
      throw new Error(`${this.#kind.interpreter} is Python ${python}. ${HOW_TO_INSTALL}`);
    }
    const [hidden] = unreadable;
    if (hidden !== undefined) throw new Error(`the sandbox's user cannot read ${hidden}.`);
  }
}

function readGreeting(data: JsonValue): { readonly python: string; readonly unreadable: readonly string[] } {
  const { python, unreadable } = isJsonObject(data) ? data : {};
  return {
    python: typeof python === 'string' ? python : 'of an unknown version',
    unreadable: Array.isArray(unreadable) ? unreadable.map(String) : [],
  };
}

/** Mostly the last printed line, such as a SyntaxError, is what tells an operator why. */
function startFailure(cause: unknown, lastLine: string, confined: boolean, interpreter: string): ToolFailure {
  const what = cause instanceof Error ? cause.message : String(cause);
  const why = confined ? `In the sandbox: ${what}` : what;
  const said = lastLine === '' ? why : `${why} It last printed: ${lastLine.slice(0, 300)}`;
  const message = NO_SUCH_PROGRAM.test(lastLine) ? `${said}. ${remedyFor(interpreter)}` : said;
  return toolFailure('WORKER_START_FAILED', message, { cause });
}

/** Only where the interpreter itself is what could not be started: Python's version has nothing to do with the rest. */
function withAdvice(error: unknown, interpreter: string): unknown {
  if (!(error instanceof ToolFailure) || error.details?.['program'] !== interpreter) return error;
  const { type, message, reason, details } = error;
  return new ToolFailure(type, `${message} ${remedyFor(interpreter)}`, {
    reason,
    details,
    partialSideEffects: false,
    cause: error,
  });
}

/** It is not there, or it is and may not be reached. */
function remedyFor(interpreter: string): string {
  return (isAbsolute(interpreter) && behindClosedFolder(interpreter)) || HOW_TO_INSTALL;
}
