// CallIntake: takes waiting calls for as long as this replica has room, first those that are first; and passes on what it has no room for.
import type { CallQueue } from '../../ports/call-queue.ts';
import type { CallStore, ClaimedCall } from '../../ports/call-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

export interface IntakeDeps {
  readonly store: Pick<CallStore, 'claim'>;
  readonly queue: CallQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** False while there is no database open: looking would open one that nobody needs yet. */
  readonly awake: () => boolean;
  readonly concurrency: number;
  readonly leaseMs: number;
}

/** Whoever was not told of a call finds it among the rows. */
const LOOK_MS = 1_000;

export class CallIntake {
  readonly #deps: IntakeDeps;
  readonly #owner: string;
  readonly #run: (call: ClaimedCall) => Promise<void>;
  /** Of calls said to wait since the rows were last known to be empty. */
  readonly #told = new Set<string>();
  #busy = 0;
  #moreWait = false;
  #looking = false;
  #disarm: (() => void) | undefined;
  #stopped = false;

  /** `run` never rejects. */
  constructor(deps: IntakeDeps, owner: string, run: (call: ClaimedCall) => Promise<void>) {
    this.#deps = deps;
    this.#owner = owner;
    this.#run = run;
  }

  start(): void {
    this.#deps.queue.start((id) => this.#hear(id));
    this.#lookLater();
  }

  /** Takes no more. */
  stop(): void {
    this.#stopped = true;
    this.#disarm?.();
    this.#deps.queue.stop();
  }

  get #room(): number {
    return this.#stopped ? 0 : this.#deps.concurrency - this.#busy;
  }

  /** False: there is no room for it here. */
  #hear(id: string): boolean {
    this.#moreWait = true;
    if (this.#room <= 0) return false;
    this.#told.add(id);
    this.#look();
    return true;
  }

  #lookLater(): void {
    const { clock, random, awake } = this.#deps;
    this.#disarm = clock.after(LOOK_MS * (0.9 + random() / 5), () => {
      if (awake()) {
        this.#moreWait = true;
        this.#look();
      }
      this.#lookLater();
    });
  }

  /** One look at a time; what is said meanwhile is looked at afterwards. */
  #look(): void {
    if (this.#looking || this.#room <= 0) return;
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
    const { store, leaseMs, log } = this.#deps;
    try {
      while (this.#moreWait && this.#room > 0) {
        const asked = this.#room;
        const told = [...this.#told];
        this.#moreWait = false;
        const claimed = await store.claim(this.#owner, leaseMs, asked);
        const isAll = claimed.length < asked;
        for (const id of isAll ? told : claimed.map((call) => call.id)) this.#told.delete(id);
        if (!isAll) this.#moreWait = true;
        for (const call of claimed) {
          this.#busy += 1;
          void this.#run(call).then(() => this.#leave());
        }
      }
    } catch (error) {
      log.warn({ err: error }, 'waiting calls could not be claimed');
    }
  }

  #leave(): void {
    this.#busy -= 1;
    if (this.#moreWait) this.#look();
  }

  #rest(): void {
    const { queue } = this.#deps;
    if (!this.#moreWait) return queue.listen();
    const [id] = this.#told;
    this.#told.clear();
    if (id !== undefined) queue.pass(id);
  }
}
