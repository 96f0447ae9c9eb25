// FunctionLease: the lease of one function, taken when it is loaded, or by the first call that finds a sandbox there.
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { PoolLease } from './pool-leases.ts';
import type { CallWalls } from '../sandbox-choice.ts';

export interface Leased {
  readonly lease: PoolLease;
  /** What its calls run in. */
  readonly walls: CallWalls;
}

export class FunctionLease {
  readonly #take: () => Promise<Leased>;
  #lease: Leased | undefined;
  #taking: Promise<Leased> | undefined;

  private constructor(take: () => Promise<Leased>) {
    this.#take = take;
  }

  /** Throws a sentence for the operator. That there is no sandbox is none: it is said to whoever calls. */
  static async open(take: () => Promise<Leased>): Promise<FunctionLease> {
    const lease = new FunctionLease(take);
    try {
      await lease.#get();
    } catch (error) {
      if (!isSandboxMissing(error)) throw error;
    }
    return lease;
  }

  /** At once, where it was taken before: a call is queued in the turn in which it came. Throws ToolFailure. */
  get(): Leased | Promise<Leased> {
    return this.#lease ?? this.#get().catch((error: unknown) => Promise.reject(asFailure(error)));
  }

  /** Of the code that calls run from now on. Throws ToolFailure, where no call can run. */
  async contentHash(): Promise<string> {
    return (await this.get()).lease.contentHash();
  }

  async release(): Promise<void> {
    const leased = await this.#taking?.catch(() => undefined);
    await leased?.lease.release();
  }

  #get(): Promise<Leased> {
    this.#taking ??= this.#take().then(
      (lease) => (this.#lease = lease),
      (error: unknown) => {
        this.#taking = undefined;
        throw error;
      },
    );
    return this.#taking;
  }
}

function isSandboxMissing(error: unknown): boolean {
  return error instanceof ToolFailure && isReason(error, 'SANDBOX_UNAVAILABLE');
}

function asFailure(error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  return toolFailure('WORKER_START_FAILED', 'This Python tool could not be loaded when it was called.', {
    partialSideEffects: false,
    cause: error,
  });
}
