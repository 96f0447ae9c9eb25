// AsyncCalls: what doors do with calls that run later: accept, look, cancel, run again, follow.
import type { Admitted, AdmitRequest, KeptCall } from '../contract/call/admission.ts';
import { holds, type Principal } from '../contract/call/principal.ts';
import type { ToolContext } from '../contract/call/tool-context.ts';
import { permissionMissing, shuttingDown, toolFailure } from '../contract/call/failure.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';
import { SharedSlots } from '../lib/concurrency/shared-slots.ts';
import type { CallHints } from '../ports/calls/call-hints.ts';
import type { CallQueue } from '../ports/calls/call-queue.ts';
import type { CallStore, NewCall, StoredCall } from '../ports/calls/call-store.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/telemetry/log.ts';
import { retryOutcomeOf } from '../ports/retry-outcome.ts';
import type { ToolCaller } from '../ports/tool-caller.ts';
import type { WaitingCalls } from '../ports/calls/waiting-calls.ts';
import type { DeadWebhook, WebhookStore } from '../ports/calls/webhook-store.ts';
import type { CallbackRules } from '../webhooks/callback-rules.ts';
import { newCallOf } from './accepted-request.ts';
import { authorizeRetry, type RetryWish } from './authorize-retry.ts';
import { callbackNotAllowed, notFound, notRetried, tooManyFollowers } from './call-failures.ts';
import { CallLooks } from './follow/call-looks.ts';
import { CallWatches, type WatchedCalls } from './follow/call-watches.ts';
import type { ReservedSlot } from './queue-consumer.ts';
import { keepAdmitted } from './keep-admitted.ts';
import { isPerhapsKept, keepCall } from './keep-call.ts';
import { endedWithout, type WriteEnvelope } from './ended-call.ts';
import { followCall, type Followed } from './follow/follow-call.ts';

export interface AsyncCallsDeps {
  readonly store: CallStore;
  readonly waiting: WaitingCalls;
  readonly caller: Pick<ToolCaller, 'admit'>;
  readonly webhooks: WebhookStore;
  readonly queue: CallQueue;
  readonly hints: CallHints;
  readonly clock: Clock;
  readonly log: Log;
  readonly write: WriteEnvelope;
  readonly rules: CallbackRules;
  readonly maxQueued: number;
  readonly maxWaitMs: number;
  /** Capacity on this replica for a call that is being accepted, if it need not wait. */
  readonly reserve: (call: NewCall) => ReservedSlot | undefined;
  /** A message may be due. */
  readonly wakeSender: () => void;
}

/** For whom a call must have been made to be seen: said by a backend that serves many with one credential. */
export type CalledFor = Pick<ToolContext, 'agentId' | 'userId' | 'sessionId'>;

const MAX_FOLLOWERS = 1_000;

export class AsyncCalls {
  readonly #deps: AsyncCallsDeps;
  readonly #drain = new AbortController();
  readonly #followers = new SharedSlots(MAX_FOLLOWERS);
  readonly #looks: CallLooks;
  readonly #watches: CallWatches;

  constructor(deps: AsyncCallsDeps) {
    this.#deps = deps;
    this.#looks = new CallLooks(deps.store);
    this.#watches = new CallWatches({ ...deps, looks: this.#looks });
  }

  /**
   * The call passes everything but its executor, and is committed before anybody hears of it; where a human has to approve
   * it first, together with what that human is asked. Never throws.
   */
  async accept(request: AdmitRequest, callbackUrl?: string): Promise<ToolResponse> {
    const admission = await this.#deps.caller.admit({ ...request, awaitsApproval: true });
    return keepAdmitted(admission, (admitted) => this.#queue(admitted, callbackUrl));
  }

  async #queue(admitted: Admitted, callbackUrl: string | undefined): Promise<KeptCall> {
    const { queue, maxWaitMs, reserve } = this.#deps;
    const accepted = newCallOf(admitted, { maxWaitMs, callbackUrl });
    const at = `/v1/calls/${accepted.id}`;
    const { awaited } = admitted;
    if (awaited !== undefined) {
      const { waiting, maxQueued, log } = this.#deps;
      const write = () => waiting.keep(accepted, awaited, maxQueued);
      return { at, approvalEndsAt: await keepCall(accepted, write, log) };
    }
    const slot = reserve(accepted);
    await this.#keepReserved(accepted, slot);
    // Nobody waits for the queue: the row is enough.
    if (slot === undefined) queue.offer(accepted.id);
    // Read back from its text: it runs as it was kept, here as on any other replica.
    else slot.run({ ...accepted, claim: 1, run: 1 });
    return { at };
  }

  async #keepReserved(call: NewCall, slot: ReservedSlot | undefined): Promise<void> {
    const { store, maxQueued, log } = this.#deps;
    try {
      await keepCall(call, () => store.accept(call, maxQueued, slot?.claim), log);
    } catch (error) {
      slot?.giveUp(isPerhapsKept(error));
      throw error;
    }
  }

  /** Throws ToolFailure VALIDATION where the gateway may not call that URL. */
  checkCallback(url: string): void {
    const refusal = this.#deps.rules.refusal(url);
    if (refusal !== undefined) throw callbackNotAllowed(refusal);
  }

  /** For whoever made the call, or holds calls:read. Throws ToolFailure NOT_FOUND: existence is not told. */
  async get(principal: Principal, id: string, of: CalledFor = {}): Promise<StoredCall> {
    return this.#visible(principal, id, 'calls:read', of);
  }

  /** The envelope that an ended call ended in, as JSON text; undefined: it has not ended, or nothing is known of an answer. */
  envelopeOf(call: StoredCall): string | undefined {
    if (call.envelope !== undefined) return call.envelope;
    if (call.kind === 'sync' || call.finishedAt === null || call.errorType === null) return undefined;
    return this.#deps.write(endedWithout(call));
  }

  /** Throws ToolFailure NOT_FOUND, or CONFLICT (CALL_ENDED). */
  async cancel(principal: Principal, id: string, of: CalledFor = {}): Promise<StoredCall> {
    const { store, hints, log, wakeSender } = this.#deps;
    await this.#visible(principal, id, 'calls:write', of);
    const outcome = await store.cancel(principal.tenantId, id);
    if (outcome === undefined) throw notFound();
    if (outcome === 'ended') throw toolFailure('CALL_ENDED', 'This call has ended already.');
    log.info({ callId: id, by: principal.id, outcome }, 'a call was cancelled');
    hints.publish(outcome === 'requested' ? 'cancel' : 'news', id);
    if (outcome === 'cancelled') wakeSender();
    return this.#visible(principal, id, 'calls:write');
  }

  /** The client that made a call has shown its user what has to be approved. Throws like `get`. */
  async approvalShown(principal: Principal, id: string, of: CalledFor = {}): Promise<void> {
    const { store, hints } = this.#deps;
    await this.get(principal, id, of);
    await store.approvalShown(principal.tenantId, id);
    hints.publish('news', id);
  }

  /**
   * Made anew by whoever asks for it: it runs with their rights, for the agent and the user that it was made for. Throws
   * ToolFailure: PERMISSION_DENIED, NOT_FOUND, CONFLICT, and whatever such a call would be refused with now.
   */
  async retry(principal: Principal, id: string, wish: RetryWish): Promise<StoredCall> {
    const { store, caller, queue, hints, log } = this.#deps;
    const { force } = wish;
    if (!holds(principal, 'calls:write') && !holds(principal, 'admin'))
      throw permissionMissing('calls:write');
    const ended = ID.test(id) ? await store.get(principal.tenantId, id) : undefined;
    if (ended === undefined) throw notFound();
    // Before anybody is asked to approve what cannot be.
    // One that was refused before it was accepted is known, and was not kept.
    const expected = ended.request === undefined ? 'not_async' : retryOutcomeOf(ended, force);
    if (expected !== 'queued') throw notRetried(expected);
    const request = await authorizeRetry(caller, ended, wish);
    const outcome = await store.retry(principal.tenantId, id, { force, request, by: principal.id });
    if (outcome === undefined) throw notFound();
    if (outcome !== 'queued') throw notRetried(outcome);
    log.warn({ callId: id, by: principal.id, force }, 'an ended call was queued again');
    queue.offer(id);
    hints.publish('news', id);
    return (await store.get(principal.tenantId, id)) ?? ended;
  }

  /** Throws like `get`, and UNAVAILABLE (TOO_MANY_FOLLOWERS, DRAINING). Iterate what it gives, or nobody else can follow. */
  async follow(
    principal: Principal,
    id: string,
    afterSeq: number,
    gone: AbortSignal,
    of: CalledFor = {},
  ): Promise<AsyncIterable<Followed>> {
    await this.get(principal, id, of);
    if (this.#drain.signal.aborted) throw shuttingDown();
    const { tenantId } = principal;
    const leave = this.#followers.take(tenantId);
    if (leave === undefined) throw tooManyFollowers();
    gone.addEventListener('abort', leave, { once: true });
    const terms = { tenantId, id, afterSeq, gone, drain: this.#drain.signal };
    return until(followCall({ ...this.#deps, looks: this.#looks }, terms), leave);
  }

  /** How calls that `get` has found are, and what becomes of them. Throws UNAVAILABLE (DRAINING). */
  watch(principal: Principal, ids: readonly string[], gone: AbortSignal): WatchedCalls {
    if (this.#drain.signal.aborted) throw shuttingDown();
    return this.#watches.open(principal, ids, { gone, drain: this.#drain.signal });
  }

  /** Somebody has decided about a call that waited for it: it is to be run, or has ended. */
  decided(callId: string): void {
    const { queue, hints, wakeSender } = this.#deps;
    queue.offer(callId);
    hints.publish('news', callId);
    wakeSender();
  }

  dead(principal: Principal, limit: number, before?: string): Promise<readonly DeadWebhook[]> {
    return this.#deps.webhooks.dead(principal.tenantId, limit, before);
  }

  async redrive(principal: Principal, webhookId: string): Promise<void> {
    const { webhooks, log, wakeSender } = this.#deps;
    if (!(await webhooks.redrive(principal.tenantId, webhookId)))
      throw toolFailure('WEBHOOK_NOT_FOUND', 'There is no dead webhook of this id.');
    log.info({ webhookId, by: principal.id }, 'a dead webhook was queued again');
    wakeSender();
  }

  /** Sends those who follow away, to another replica. */
  drain(): void {
    this.#drain.abort();
  }

  async #visible(
    principal: Principal,
    id: string,
    permission: string,
    of: CalledFor = {},
  ): Promise<StoredCall> {
    const { tenantId } = principal;
    const call = ID.test(id) ? await this.#looks.of(tenantId).get(tenantId, id) : undefined;
    if (call === undefined || !isFor(call, of)) throw notFound();
    if (call.principalId === principal.id || holds(principal, permission)) return call;
    throw notFound();
  }
}

function isFor(call: StoredCall, { agentId, userId, sessionId }: CalledFor): boolean {
  return (
    (agentId === undefined || agentId === call.agentId) &&
    (userId === undefined || userId === call.userId) &&
    (sessionId === undefined || sessionId === call.sessionId)
  );
}

const ID = /^[0-9a-f-]{36}$/;

async function* until(events: AsyncIterable<Followed>, leave: () => void): AsyncIterable<Followed> {
  try {
    yield* events;
  } finally {
    leave();
  }
}
