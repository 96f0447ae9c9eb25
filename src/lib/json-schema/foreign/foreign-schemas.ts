// ForeignSchemas: lints and applies schemas that others wrote, in a thread of its own: the gateway goes on whatever is in them.
import { hash } from 'node:crypto';
import {
  BoundedThread,
  BoundedThreadError,
  type After,
  type ThreadProgram,
} from '../../concurrency/bounded-thread.ts';
import type { ForeignAnswer, ForeignTask } from './foreign-thread.ts';
import type { SchemaProblem } from '../lint/schema-graph.ts';
import type { ValidatorOptions } from '../validator.ts';
import type { Violation } from '../violation.ts';

export interface ForeignVerdict {
  /** Empty: the value fits. */
  readonly violations: readonly Violation[];
  /** The value as JSON text with defaults filled in and members dropped, where the check does that. */
  readonly filled?: string;
}

export interface ForeignValidator {
  /** `json`: the value as text. Rejects with ForeignCheckError, or with the signal's reason. */
  validate(json: string, signal?: AbortSignal): Promise<ForeignVerdict>;
  /** The value without its stand-in nulls; undefined where it has none. Rejects in the same way. */
  withoutStandIns(json: string, signal?: AbortSignal): Promise<string | undefined>;
}

/** `busy`: too many checks wait, or the machine has other work; later may be better. `failed`: this schema and this value take too much. */
export class ForeignCheckError extends Error {
  readonly why: 'busy' | 'failed';

  constructor(why: 'busy' | 'failed', message: string, cause?: unknown) {
    super(message, { cause });
    this.why = why;
    this.name = 'ForeignCheckError';
  }
}

export interface ForeignLimits {
  /** Of the thread's own work, for one check of a value. */
  readonly checkMs: number;
  /** For linting, and for the first check of a schema in a thread, which compiles it. */
  readonly compileMs: number;
  readonly startMs: number;
  /** Checks that may wait; one more is refused. */
  readonly maxWaiting: number;
  /** Without work for so long, the thread is ended. */
  readonly idleMs: number;
}

const PROGRAM: ThreadProgram = {
  /** Beside this file, in src as in dist. */
  file: new URL(`foreign-thread${import.meta.url.slice(-3)}`, import.meta.url),
  memory: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
};

const LIMITS: ForeignLimits = {
  checkMs: 250,
  compileMs: 2_000,
  startMs: 30_000,
  maxWaiting: 1_000,
  idleMs: 60_000,
};

/** A schema that had the thread killed so often in a row is left alone for a while: others wait for the thread, too. */
const MOST_STRIKES = 3;
const BANNED_MS = 60_000;

interface Job {
  readonly task: (has: boolean) => ForeignTask;
  /** Of the schema; undefined where the thread keeps nothing of the task. */
  readonly key: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly done: (answer: ForeignAnswer) => void;
  readonly failed: (error: unknown) => void;
}

export class ForeignSchemas {
  readonly #after: After;
  readonly #limits: ForeignLimits;
  readonly #waiting: Job[] = [];
  readonly #strikes = new Map<string, number>();
  /** What the thread was given; it may have let go of some of it. */
  #given = new Set<string>();
  #worker: BoundedThread<ForeignTask, ForeignAnswer> | undefined;
  #working = false;
  #closed = false;
  #forget: () => void = () => undefined;

  constructor(after: After, limits: Partial<ForeignLimits> = {}) {
    this.#after = after;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** As lintSchema says. Rejects with ForeignCheckError. */
  async lint(schema: object): Promise<readonly SchemaProblem[]> {
    const text = JSON.stringify(schema);
    const answer = await this.#ask(() => ({ kind: 'lint', schema: text }), undefined, undefined);
    return answer.kind === 'linted' ? answer.problems : [];
  }

  /** Nothing is compiled before the first value. */
  validatorOf(schema: object, options: ValidatorOptions = {}): ForeignValidator {
    const text = JSON.stringify(schema);
    const key = hash('sha256', `${JSON.stringify(options)} ${text}`);
    const ask = async (value: string, dropsNulls: boolean, signal: AbortSignal | undefined) => {
      if ((this.#strikes.get(key) ?? 0) >= MOST_STRIKES)
        throw new ForeignCheckError(
          'failed',
          'This schema took too much several times: it rests for a minute.',
        );
      const task = (has: boolean): ForeignTask => ({
        kind: 'validate',
        key,
        value,
        options,
        ...(dropsNulls && { dropsNulls }),
        ...(!has && { schema: text }),
      });
      const answer = await this.#ask(task, key, signal);
      if (answer.kind === 'validated' || answer.kind === 'cleaned') return answer;
      throw new ForeignCheckError('failed', 'The schema could not be compiled.');
    };
    return {
      validate: async (json, signal) => {
        const answer = await ask(json, false, signal);
        return answer.kind === 'validated' ? answer : { violations: [] };
      },
      withoutStandIns: async (json, signal) => {
        const answer = await ask(json, true, signal);
        return answer.kind === 'cleaned' ? answer.value : undefined;
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#forget();
    for (const { failed } of this.#waiting.splice(0))
      failed(new ForeignCheckError('busy', 'The gateway is stopping.'));
    await this.#worker?.end();
  }

  #ask(task: Job['task'], key: string | undefined, signal: AbortSignal | undefined): Promise<ForeignAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<ForeignAnswer>();
    if (this.#closed || this.#waiting.length >= this.#limits.maxWaiting)
      return Promise.reject(new ForeignCheckError('busy', 'Too many checks of schemas wait already.'));
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#waiting.push({ task, key, signal, done: resolve, failed: reject });
    if (!this.#working) void this.#work();
    return promise.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    this.#working = true;
    this.#forget();
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      if (job.signal?.aborted === true) continue;
      try {
        job.done(await this.#do(job));
        if (job.key !== undefined) this.#strikes.delete(job.key);
      } catch (error) {
        const why = error instanceof BoundedThreadError ? error.why : 'failed';
        if (why === 'failed') this.#strike(job.key);
        job.failed(new ForeignCheckError(why, (error as Error).message, error));
      }
    }
    this.#working = false;
    this.#forget = this.#after(this.#limits.idleMs, () => void this.#worker?.end());
  }

  async #do({ task, key }: Job): Promise<ForeignAnswer> {
    const worker = await this.#ready();
    const { checkMs, compileMs } = this.#limits;
    const has = key !== undefined && this.#given.has(key);
    const answer = await worker.run(task(has), has ? checkMs : compileMs);
    if (key !== undefined) this.#given.add(key);
    return answer.kind === 'missing' ? worker.run(task(false), compileMs) : answer;
  }

  async #ready(): Promise<BoundedThread<ForeignTask, ForeignAnswer>> {
    if (this.#worker !== undefined && !this.#worker.isDead) return this.#worker;
    if (this.#closed) throw new BoundedThreadError('The gateway is stopping.');
    this.#given = new Set();
    this.#worker = await BoundedThread.start<ForeignTask, ForeignAnswer>(
      PROGRAM,
      this.#after,
      this.#limits.startMs,
    );
    return this.#worker;
  }

  #strike(key: string | undefined): void {
    if (key === undefined) return;
    const strikes = (this.#strikes.get(key) ?? 0) + 1;
    this.#strikes.set(key, strikes);
    if (strikes === MOST_STRIKES) this.#after(BANNED_MS, () => this.#strikes.delete(key));
  }
}
