// Slot: a ready worker, and who holds it: a tenant does, from the start of its first task there to the end of the last.
import type { PoolSettings, PoolTask, PoolWorker } from './pool-options.ts';

export class Slot<W extends PoolWorker> {
  readonly worker: W;
  /** At its last tasks: serves until a replacement is there … */
  retiring = false;
  /** … and then ends as soon as nobody waits for it. */
  leaving = false;
  /** It was told to. */
  closing = false;
  tasks = 0;
  /** When it was used last: a count, not a time. */
  usedAt = 0;
  #level = 0;
  #tenant: string | undefined;
  #owner: string | undefined;
  #exclusive = false;

  constructor(worker: W) {
    this.worker = worker;
  }

  get isFree(): boolean {
    return this.worker.running === 0;
  }

  get isUsable(): boolean {
    const { ended, spoiled, isSound } = this.worker;
    return !this.leaving && !ended && !spoiled && isSound;
  }

  get isSettling(): boolean {
    return this.worker.isSettling === true;
  }

  /** Its only task runs, and it reads nothing of what is asked meanwhile. */
  get isDeaf(): boolean {
    return this.#exclusive && !this.isFree;
  }

  /** The one that held it last; undefined: nobody's task has run in it. */
  get owner(): string | undefined {
    return this.#owner;
  }

  get level(): number {
    return this.#level;
  }

  get tenant(): string | undefined {
    return this.#tenant;
  }

  isHeldOn(level: number): boolean {
    return !this.isFree && this.#level === level;
  }

  isHeldBy(tenant: string | undefined, level: number): boolean {
    return this.isHeldOn(level) && this.#tenant === tenant;
  }

  /** Beside what runs in it. */
  canBeJoinedBy({ owner, exclusive, level }: PoolTask, { callsPerWorker }: PoolSettings): boolean {
    if (exclusive || this.#exclusive || !this.isHeldOn(level)) return false;
    if (owner !== undefined && this.#owner !== undefined && owner !== this.#owner) return false;
    return this.worker.running < callsPerWorker;
  }

  take({ owner, tenant, exclusive, level }: PoolTask, now: number): void {
    this.tasks += 1;
    this.usedAt = now;
    if (this.isFree) {
      this.#level = level;
      this.#tenant = tenant;
      this.#exclusive = exclusive;
    }
    this.#tenant ??= tenant;
    this.#owner = owner ?? this.#owner;
  }
}
