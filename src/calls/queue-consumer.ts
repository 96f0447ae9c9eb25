// QueueConsumer: takes waiting calls for as long as this replica has capacity, first those that are first; and passes on what it has none for.
import type { CallQueue } from '../ports/calls/call-queue.ts';
import type { CallStore, ClaimedCall, FirstClaim } from '../ports/calls/call-store.ts';
import { every, type Repeated } from '../lib/timers/every.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/telemetry/log.ts';
import { LostClaims } from './lost-claims.ts';

export interface ConsumerDeps {
  readonly store: Pick<CallStore, 'claim' | 'reclaim'>;
  readonly queue: CallQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly concurrency: number;
  readonly leaseMs: number;
}

/** Capacity that is kept for a call while it is being accepted. Either is called, once. */
export interface ReservedSlot {
  readonly claim: FirstClaim;
  run(call: ClaimedCall): void;
  /** `mayBeKept`: the call may have been accepted all the same; it is looked for, and run. */
  giveUp(mayBeKept: boolean): void;
}

/** Runs a call to its written end, and never rejects; `executed` is called when nothing of it runs any more. */
export type RunCall = (call: ClaimedCall, executed: () => void) => Promise<void>;

/** Whoever was not told of a call finds it among the rows. */
const LOOK_MS = 1_000;

export class QueueConsumer {
  readonly #deps: ConsumerDeps;
  readonly #replica: string;
  readonly #run: RunCall;
  readonly #lost: LostClaims;
  /** Calls said to wait since the rows were last known to be empty. */
  readonly #told = new Set<string>();
  /** Others than those may wait. */
  #moreWait = false;
  #running = 0;
  /** Their ends are being written: as many again as may run, or a database that is slow would be asked for ever more. */
  #ending = 0;
  /** Of the capacity, what waiting calls are being claimed for. */
  #asked = 0;
  #looking = false;
  #claims = 0;
  #looks: Repeated | undefined;
  #stopped = false;

  constructor(deps: ConsumerDeps, replica: string, run: RunCall) {
    this.#deps = deps;
    this.#replica = replica;
    this.#run = run;
    this.#lost = new LostClaims(deps);
  }

  start(): void {
    const { queue, clock, random, log } = this.#deps;
    queue.start((id, passedOn) => this.#onCall(id, passedOn));
    const look = () => {
      this.#moreWait = true;
      this.#look();
    };
    this.#looks = every(clock, { ms: LOOK_MS, jitter: 0.1, random }, look, (error) =>
      log.error({ err: error }, 'waiting calls could not be looked for: it is tried again'),
    );
  }

  /** Takes no more. */
  stop(): void {
    this.#stopped = true;
    void this.#looks?.stop();
    this.#deps.queue.stop();
  }

  /** Undefined where a call that comes now would overtake one that waits, or there is no capacity for it. */
  reserve(): ReservedSlot | undefined {
    if (this.#moreWait || this.#capacity - this.#asked <= this.#told.size) return undefined;
    this.#running += 1;
    const owner = this.#newOwner();
    return {
      claim: { owner, leaseMs: this.#deps.leaseMs },
      run: (call) => this.#begin(call),
      giveUp: (mayBeKept) => {
        if (mayBeKept) this.#lost.add(owner);
        this.#running -= 1;
        this.#goOn();
      },
    };
  }

  /** Each claim has a name of its own, by which its calls are found where its answer was lost. */
  #newOwner(): string {
    this.#claims += 1;
    return `${this.#replica}.${this.#claims}`;
  }

  get #capacity(): number {
    const { concurrency } = this.#deps;
    if (this.#stopped) return 0;
    return Math.min(concurrency, 2 * concurrency - this.#ending) - this.#running;
  }

  get #someWait(): boolean {
    return this.#moreWait || this.#told.size > 0;
  }

  /** False: there is no capacity for it here. */
  #onCall(id: string, passedOn: boolean): boolean {
    if (this.#capacity <= 0 || passedOn) this.#moreWait = true;
    if (this.#capacity <= 0) return false;
    this.#told.add(id);
    this.#look();
    return true;
  }

  /** One look at a time; what is said meanwhile is looked at afterwards. */
  #look(): void {
    if (this.#looking || (this.#capacity <= 0 && this.#lost.isEmpty)) return;
    this.#looking = true;
    // Calls that come, and calls that end, in the same turn of the event loop go along.
    setImmediate(() => {
      void this.#takeAll().finally(() => {
        this.#looking = false;
        this.#rest();
      });
    });
  }

  async #takeAll(): Promise<void> {
    try {
      // Whether or not there is capacity: nobody else may run them.
      for (const call of await this.#lost.find()) this.#beginOne(call);
      while (this.#someWait && this.#capacity > 0) await this.#take();
    } catch (error) {
      this.#deps.log.warn(
        { err: error },
        'waiting calls could not be claimed from the database: it is tried again',
      );
    } finally {
      this.#asked = 0;
    }
  }

  async #take(): Promise<void> {
    const { store, leaseMs } = this.#deps;
    const owner = this.#newOwner();
    const isUnsure = this.#moreWait;
    const told = [...this.#told];
    this.#asked = isUnsure ? this.#capacity : Math.min(this.#capacity, told.length);
    this.#moreWait = false;
    const claimed = await this.#lost.watch(owner, () => store.claim(owner, leaseMs, this.#asked));
    const isAll = claimed.length < this.#asked;
    this.#asked = 0;
    for (const id of isAll ? told : claimed.map((call) => call.id)) this.#told.delete(id);
    if (isUnsure && !isAll) this.#moreWait = true;
    for (const call of claimed) this.#beginOne(call);
  }

  #beginOne(call: ClaimedCall): void {
    this.#running += 1;
    this.#begin(call);
  }

  /** It has its slot already. */
  #begin(call: ClaimedCall): void {
    let runs = true;
    const executed = () => {
      if (!runs) return;
      runs = false;
      this.#running -= 1;
      this.#ending += 1;
      this.#goOn();
    };
    void this.#run(call, executed).then(() => {
      executed();
      this.#ending -= 1;
      this.#goOn();
    });
  }

  /** There may be capacity that was not there before. */
  #goOn(): void {
    if (this.#someWait) this.#look();
    else if (this.#capacity > 0) this.#deps.queue.listen();
  }

  #rest(): void {
    if (!this.#someWait) return this.#goOn();
    const [id] = this.#told;
    this.#told.clear();
    this.#moreWait = true;
    if (id !== undefined) this.#deps.queue.pass(id);
  }
}
