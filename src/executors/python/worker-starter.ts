// WorkerStarter: brings a worker to the point where calls cost nothing extra: started, greeted, modules imported.
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessSpawner, SpawnRequest } from '../../ports/process-spawner.ts';
import type { Answer } from './answer.ts';
import { PythonWorker, type EndReason } from './python-worker.ts';
import type { PythonSettings } from './settings.ts';
import type { LineListener } from './worker-output.ts';

const OLDEST_PYTHON = [3, 9] as const;

export const ignoreLines: LineListener = () => undefined;

export class WorkerStarter {
  readonly #spawner: ProcessSpawner;
  readonly #clock: Clock;
  readonly #settings: PythonSettings;
  readonly #request: SpawnRequest;

  constructor(
    spawner: ProcessSpawner,
    clock: Clock,
    settings: PythonSettings,
    workerFile: string,
    folders: readonly string[],
  ) {
    this.#spawner = spawner;
    this.#clock = clock;
    this.#settings = settings;
    this.#request = {
      // -I: no PYTHON* variable and no user folder has a say. -B: writes nothing beside the tools. -u: prints at once.
      argv: [settings.interpreter, '-I', '-B', '-u', workerFile, ...folders],
      cwd: '/',
      env: { PATH: settings.path, LANG: 'C.UTF-8' },
      channel: true,
    };
  }

  /** `warmUps` is asked late: it may have grown while the interpreter started. */
  async start(
    warmUps: () => readonly string[],
    onEnd: (worker: PythonWorker, reason: EndReason) => void,
    signal: AbortSignal,
  ): Promise<PythonWorker> {
    let lastLine = '';
    const listener: LineListener = (_level, line) => {
      lastLine = line;
    };
    const child = await this.#spawner.spawn(this.#request);
    const worker = new PythonWorker(child, this.#settings, listener, onEnd);
    const onAbort = () => worker.kill('closed', signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      await this.#greet(worker, listener);
      for (const members of warmUps()) await this.ask(worker, members, listener);
      return worker;
    } catch (error) {
      worker.kill('died', error);
      await worker.outputOver;
      throw startFailure(error, lastLine);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** A request outside any call: limited in time, on pain of death. */
  async ask(worker: PythonWorker, members: string, listener: LineListener): Promise<Answer> {
    const { startTimeoutMs } = this.#settings;
    const disarm = this.#clock.after(startTimeoutMs, () => {
      const message = `The Python worker did not start or import its modules within ${startTimeoutMs} ms.`;
      worker.kill(
        'start_timeout',
        new ToolFailure('UNAVAILABLE', message, { reason: 'WORKER_START_FAILED' }),
      );
    });
    try {
      return await worker.request(members, listener);
    } finally {
      disarm();
    }
  }

  async #greet(worker: PythonWorker, listener: LineListener): Promise<void> {
    const members = `"op":"hello","max_frame_bytes":${this.#settings.maxFrameBytes}`;
    const answer = await this.ask(worker, members, listener);
    const python = answer.ok && typeof answer.data === 'string' ? answer.data : 'of an unknown version';
    const [major = 0, minor = 0] = python.split('.').map(Number);
    const [wantedMajor, wantedMinor] = OLDEST_PYTHON;
    if (major === wantedMajor && minor >= wantedMinor) return;
    throw new Error(`${this.#settings.interpreter} is Python ${python}; 3.9 or newer is needed.`);
  }
}

/** Mostly the last printed line, such as a SyntaxError, is what tells an operator why. */
function startFailure(cause: unknown, lastLine: string): ToolFailure {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = lastLine === '' ? why : `${why} It last printed: ${lastLine.slice(0, 300)}`;
  return new ToolFailure('UNAVAILABLE', message, { reason: 'WORKER_START_FAILED', cause });
}
