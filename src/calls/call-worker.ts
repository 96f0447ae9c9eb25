// CallWorker: runs accepted calls through the core, each under a lease, and writes the one end that each has.
import type { AdmittedCall } from '../contract/call/admitted-call.ts';
import { isReason } from '../contract/call/reasons/is-reason.ts';
import { randomUUID } from 'node:crypto';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { ToolRefusal, ToolResponse } from '../contract/call/tool-response.ts';
import { pause } from '../lib/timers/pause.ts';
import type { CallEnd, CallStore, ClaimedCall, NewCall } from '../ports/calls/call-store.ts';
import type { ToolCaller } from '../ports/tool-caller.ts';
import { notApproved } from './approved-call.ts';
import { admittedCallOf } from './accepted-request.ts';
import { QueueConsumer, type ConsumerDeps, type ReservedSlot } from './queue-consumer.ts';
import { endOf, type WriteEnvelope } from './ended-call.ts';
import { EventRecorder } from './event-recorder.ts';
import { LeaseKeeper, type LeaseDeps } from './lease-keeper.ts';
import { RunningCall } from './running-call.ts';

export interface WorkerDeps extends LeaseDeps, ConsumerDeps {
  readonly store: CallStore;
  readonly caller: Pick<ToolCaller, 'resume'>;
  readonly write: WriteEnvelope;
}

const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 5_000;
/** A call that could not begin is tried again after its own time, or this; and never later than that. */
const DEFER_MS = 1_000;
const LONGEST_DEFER_MS = 60_000;

export class CallWorker {
  readonly #deps: WorkerDeps;
  readonly #running = new Map<string, RunningCall>();
  readonly #settling = new Set<Promise<void>>();
  readonly #closed = new AbortController();
  readonly #leases: LeaseKeeper;
  readonly #consumer: QueueConsumer;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#leases = new LeaseKeeper(deps, this.#running);
    this.#consumer = new QueueConsumer(deps, randomUUID(), (call, executed) => this.#take(call, executed));
  }

  get inFlight(): number {
    return this.#running.size;
  }

  start(): void {
    this.#leases.start();
    this.#consumer.start();
  }

  /**
   * A slot for a call that is being accepted, so that it need not wait in the queue. Only for one that may run twice:
   * if this replica dies, nobody can tell whether a call that was claimed has begun.
   */
  reserve({ idempotent, readOnly }: Pick<NewCall, 'idempotent' | 'readOnly'>): ReservedSlot | undefined {
    return idempotent || readOnly ? this.#consumer.reserve() : undefined;
  }

  /** Takes no more. What runs goes on until it ends, or the core gives it up. */
  drain(): void {
    this.#consumer.stop();
  }

  /** After the core is idle. What still has to be written is written within `withinMs`, or left to be found. */
  async close(withinMs: number): Promise<void> {
    this.drain();
    const disarm = this.#deps.clock.after(withinMs, () => this.#closed.abort());
    await Promise.all(this.#settling);
    disarm();
    this.#closed.abort();
    this.#leases.stop();
    await this.#deps.queue.close();
  }

  async #take(claimed: ClaimedCall, executed: () => void): Promise<void> {
    const { id } = claimed;
    const running = new RunningCall(claimed);
    this.#running.set(id, running);
    const settled = this.#carry(running, executed).catch((error: unknown) => {
      this.#deps.log.error(
        { callId: id, err: error },
        'an accepted call could not be run to its end: its lease runs out, and a replica settles it',
      );
    });
    this.#settling.add(settled);
    await settled;
    this.#settling.delete(settled);
    this.#running.delete(id);
  }

  async #carry(running: RunningCall, executed: () => void): Promise<void> {
    const response = await this.#run(running);
    executed();
    if (running.lost) return;
    running.ending = true;
    const delayMs = this.#comesBackAfter(running, response);
    if (delayMs === undefined) await this.#finish(running, endOf(...this.#verdict(running, response)));
    else await this.#giveBack(running, delayMs);
  }

  async #run(running: RunningCall): Promise<ToolResponse> {
    const { call, signal } = running;
    const admitted = admittedCallOf(call.id, call.request);
    const recorder = new EventRecorder(this.#deps.clock, await this.#eventsBefore(call, admitted), (events) =>
      this.#deps.store.appendEvents(call.id, events).then(
        () => this.#deps.hints.publish('news', call.id),
        (error: unknown) =>
          this.#deps.log.warn(
            { callId: call.id, err: error },
            'events of a call could not be written and are lost: its result is not affected',
          ),
      ),
    );
    try {
      const refusal = notApproved(call, admitted);
      if (refusal !== undefined)
        this.#deps.log.error(
          { callId: call.id, tool: call.tool, tenant: call.tenantId },
          'an approved call was changed in the database after its approval: it is refused',
        );
      const watched = { emit: recorder.emit, signal, ...(refusal !== undefined && { refusal }) };
      return await this.#deps.caller.resume(admitted, watched);
    } finally {
      await recorder.close();
    }
  }

  /** Of a call that ran before, or waited for its approval, something is known already, perhaps. */
  async #eventsBefore({ id, claim }: ClaimedCall, { runs }: AdmittedCall): Promise<number> {
    return claim === 1 && runs === undefined ? 0 : this.#deps.store.lastEvent(id);
  }

  /**
   * How soon it is to run again: given up by a drain and harmless, or refused by limits before it began. Undefined:
   * it has ended.
   */
  #comesBackAfter({ mayRunTwice, signal }: RunningCall, response: ToolResponse): number | undefined {
    if (response.ok || signal.aborted) return undefined;
    const { error, meta } = response;
    const untouched = meta.attempts === 0 && !error.partialSideEffects;
    if (isDrain(response)) return untouched || mayRunTwice ? 0 : undefined;
    if (!untouched || !error.retryable || error.origin !== 'gateway' || error.type === 'TIMEOUT')
      return undefined;
    const waitMs = Math.min(error.retryAfterMs ?? DEFER_MS, LONGEST_DEFER_MS);
    return waitMs * (1 + this.#deps.random() / 2);
  }

  /** Cut off by the drain's end in the middle of what may not be repeated: nobody can tell what it did. */
  #verdict({ mayRunTwice }: RunningCall, response: ToolResponse): Parameters<typeof endOf> {
    const { write } = this.#deps;
    if (response.ok || !isDrain(response) || mayRunTwice) return [response, write];
    const message = 'The gateway stopped while the tool ran: whether it acted is not known.';
    const error = {
      ...response.error,
      type: 'OUTCOME_UNKNOWN' as const,
      message,
      retryable: false,
      retryAfterMs: null,
    };
    return [{ ...response, error }, write, 'outcome_unknown'];
  }

  async #finish(running: RunningCall, end: CallEnd): Promise<void> {
    const { call } = running;
    const { store, hints, log, series, ended } = this.#deps;
    const written = await this.#insist(running, () => store.finish(call, end));
    if (written === undefined) return;
    if (!written) {
      log.warn(
        { callId: call.id, tool: call.tool, status: end.status },
        'the outcome of a call was dropped: its lease was lost, and another replica has settled the call',
      );
      return;
    }
    series.ended(end.status);
    hints.publish('news', call.id);
    ended();
  }

  async #giveBack(running: RunningCall, delayMs: number): Promise<void> {
    const { call } = running;
    const given = await this.#insist(running, () => this.#deps.store.giveBack(call, delayMs));
    if (given === true)
      this.#deps.log.info(
        { callId: call.id, tool: call.tool, delayMs },
        'a call was put back into the queue: it runs again later',
      );
  }

  /** Until the database has taken it, the claim is void, or the gateway may wait no longer. Undefined: it was not taken. */
  async #insist<T>(running: RunningCall, step: () => Promise<T>): Promise<T | undefined> {
    const { clock, log } = this.#deps;
    for (let delayMs = FIRST_RETRY_MS; !running.lost; delayMs = Math.min(delayMs * 2, LAST_RETRY_MS)) {
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof ToolFailure) || this.#closed.signal.aborted) throw error;
        log.warn(
          { callId: running.call.id, err: error.cause },
          'the outcome of a call could not be written: it is tried again',
        );
        await pause(clock, delayMs, this.#closed.signal);
      }
    }
    return undefined;
  }
}

function isDrain({ error }: ToolRefusal): boolean {
  return error.type === 'UNAVAILABLE' && isReason(error, 'DRAINING');
}
