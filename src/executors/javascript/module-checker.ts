// ModuleChecker: imports handler modules at load, in a thread apart from those that serve calls.
import { isJsonObject, type JsonValue } from '../../contract/json.ts';
import type { Clock } from '../../ports/clock.ts';
import { HandlerWorker, type WorkerOptions } from './threads/handler-worker.ts';
import { notImportable, type HandlerFile } from './load-handler.ts';
import { NO_LISTENER } from './threads/pending-call.ts';
import type { JavascriptSettings } from './settings.ts';
import type { ThreadHosts } from './threads/thread-hosts.ts';
import { lineOf } from './thrown-report.ts';
import { executorClosed } from './threads/worker-failures.ts';

export interface ModuleExports {
  readonly exported: readonly string[];
  readonly functions: readonly string[];
}

interface CheckerNeeds {
  readonly settings: JavascriptSettings;
  readonly clock: Clock;
  readonly hosts: ThreadHosts;
  readonly onStray: WorkerOptions['onStray'];
}

/** The tools of one load are checked in one thread, and the next load begins with a new one. */
const IDLE_MS = 1_000;

export class ModuleChecker {
  readonly #needs: CheckerNeeds;
  #worker: HandlerWorker | undefined;
  /** What the thread has imported, by path: what changed is imported by a new one, with all that it imports itself. */
  readonly #seen = new Map<string, string>();
  #disarmIdle: (() => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(needs: CheckerNeeds) {
    this.#needs = needs;
  }

  /** One after the other. Throws Error with a sentence for the operator. */
  check(handler: string, file: HandlerFile): Promise<ModuleExports> {
    const checked = this.#last.then(() => this.#check(handler, file));
    this.#last = checked.catch(() => {});
    return checked;
  }

  async close(): Promise<void> {
    this.#disarmIdle?.();
    this.#worker?.kill('closed', executorClosed());
    await this.#needs.hosts.close();
  }

  async #check(handler: string, { path, url, text, pinned }: HandlerFile): Promise<ModuleExports> {
    const { clock, settings } = this.#needs;
    this.#disarmIdle?.();
    if ((this.#seen.get(path) ?? url) !== url) this.#worker?.kill('closed', executorClosed());
    const worker = this.#started();
    this.#seen.set(path, url);
    await worker.ready;
    const late = new Error(`it took longer than ${settings.startTimeoutMs} ms`);
    const disarm = clock.after(settings.startTimeoutMs, () => worker.kill('start_failed', late));
    try {
      const answer = await worker.request({ kind: 'check', module: { url, text, pinned } }, NO_LISTENER);
      if (answer.kind === 'thrown') throw new Error(lineOf(answer.report));
      return readExports(answer.value);
    } catch (error) {
      throw notImportable(handler, (error as Error).message, error);
    } finally {
      disarm();
      this.#disarmIdle = clock.after(IDLE_MS, () => worker.kill('closed', executorClosed()));
    }
  }

  #started(): HandlerWorker {
    this.#worker ??= new HandlerWorker({
      ...this.#needs,
      onEnd: () => {
        this.#worker = undefined;
        this.#seen.clear();
      },
      onCapacity: () => {},
    });
    return this.#worker;
  }
}

function readExports(value: JsonValue): ModuleExports {
  const { exported, functions } = isJsonObject(value) ? value : {};
  return { exported: namesOf(exported), functions: namesOf(functions) };
}

function namesOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}
