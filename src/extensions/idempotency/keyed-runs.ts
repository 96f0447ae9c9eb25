// KeyedRuns: gets a call its key, runs it, and sees to it that its outcome is kept, or the key given back.
import type { Next } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import { AnswerLost } from '../../ports/answer-lost.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  HeldKey,
  IdempotencyStore,
  KeyClaim,
  KeyScope,
  KeyState,
  StoredOutcome,
} from '../../ports/idempotency-store.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { HeldKeys } from './held-keys.ts';
import { KeyReleases } from './key-releases.ts';

/** When an outcome could not be kept at once: tried again for as long as the key is still believed to be held. */
const KEEP_RETRIES_MS = [1_000, 3_000, 9_000];
/** A database that takes longer to fail than this is not asked twice while a caller waits. */
const RETRY_WITHIN_MS = 2_000;

export class KeyedRuns {
  readonly #store: IdempotencyStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #alive: HeldKeys;
  readonly #releases: KeyReleases;

  constructor(store: IdempotencyStore, clock: Clock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#alive = new HeldKeys(store, clock, log);
    this.#releases = new KeyReleases(store, clock, log);
  }

  /** Where the answer is lost, it is asked for once more: the store knows what this call has already. */
  async begin(scope: KeyScope, claim: KeyClaim): Promise<KeyState> {
    const ask = () => this.#store.begin(scope, claim);
    const askedAt = performance.now();
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AnswerLost)) throw error;
      const again = performance.now() - askedAt < RETRY_WITHIN_MS ? ask() : Promise.reject(error);
      return again.catch(() => {
        this.#releases.releaseWhenFound({ ...scope, callId: claim.callId });
        throw error;
      });
    }
  }

  async run(call: ToolCall, next: Next, held: HeldKey): Promise<ToolResponse> {
    this.#alive.add(held);
    try {
      const response = await next(call);
      // Refused before anything could happen: the key has not been used. What was accepted for later has.
      if (!response.ok && !call.progress.executorEntered) {
        // Perhaps accepted for later, perhaps not: the key goes the way of those whose owner died.
        if (!response.error.partialSideEffects) await this.#releases.release(held);
        return response;
      }
      const kept = await this.#store.end(held, outcomeOf(response)).catch((error: unknown) => {
        this.#keepLater(held, response, error, 0);
        return false;
      });
      return kept ? response : degraded(response);
    } finally {
      this.#alive.delete(held);
    }
  }

  close(): void {
    this.#releases.close();
  }

  /** The caller has its answer: that the next one gets it too is worth a short wait. */
  #keepLater(held: HeldKey, response: ToolResponse, error: unknown, tries: number): void {
    const delayMs = KEEP_RETRIES_MS[tries];
    this.#log.warn(
      { callId: held.callId, err: error, tries },
      'the outcome of a call could not be kept under its idempotency key: a repetition of the call may not find it',
    );
    if (delayMs === undefined) return;
    this.#clock.after(delayMs, () => {
      this.#store.end(held, outcomeOf(response)).catch((again: unknown) => {
        this.#keepLater(held, response, again, tries + 1);
      });
    });
  }
}

function outcomeOf(response: ToolResponse): StoredOutcome {
  if (!response.ok) return { ok: false, error: response.error };
  const { dataJson, intents, meta } = response;
  return {
    ok: true,
    dataJson,
    intents,
    ...(meta.truncated !== undefined && { truncated: meta.truncated }),
    ...(meta.acceptedAt !== undefined && { acceptedAt: meta.acceptedAt }),
    ...(meta.awaited !== undefined && { awaited: meta.awaited }),
  };
}

/** The answer is right; that it will be given again is not sure. */
function degraded(response: ToolResponse): ToolResponse {
  const { meta } = response;
  return { ...response, meta: { ...meta, degraded: [...meta.degraded, 'idempotency'] } };
}
