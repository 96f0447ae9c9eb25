// MemorySessionSteps: the steps of the sessions of one process. Full of sessions that are still kept, it takes no further ones.
import type { Clock } from '../../ports/clock.ts';
import {
  NO_ROOM,
  STEPS_KEPT_MS,
  type SessionSteps,
  type SteppingSession,
} from '../../ports/sessions/session-steps.ts';

/** Some 50 MB where all are taken. */
const ROOM: SessionRoom = { most: 200_000, mostOfTenant: 100_000 };

export interface SessionRoom {
  readonly most: number;
  readonly mostOfTenant: number;
}

interface Kept {
  readonly tenant: string;
  readonly steps: Map<string, number>;
  readonly until: number;
}

export class MemorySessionSteps implements SessionSteps {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #room: SessionRoom;
  /** Those whose time is over first: each mark puts its session last. */
  readonly #kept = new Map<string, Kept>();
  readonly #ofTenant = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now'>, room = ROOM) {
    this.#clock = clock;
    this.#room = room;
  }

  async mark({ tenant, id }: SteppingSession, steps: readonly string[]): Promise<void> {
    this.#dropOld();
    const known = this.#kept.get(id);
    const { most, mostOfTenant } = this.#room;
    const isFull = this.#kept.size >= most || (this.#ofTenant.get(tenant) ?? 0) >= mostOfTenant;
    if (known === undefined && isFull) throw new Error(NO_ROOM);
    this.#drop(id, known);
    const all = known?.steps ?? new Map<string, number>();
    const now = this.#clock.now();
    for (const step of steps) all.set(step, now);
    this.#kept.set(id, { tenant, steps: all, until: now + STEPS_KEPT_MS });
    this.#ofTenant.set(tenant, (this.#ofTenant.get(tenant) ?? 0) + 1);
  }

  async taken({ id }: SteppingSession, steps: readonly string[]): Promise<ReadonlyMap<string, number>> {
    this.#dropOld();
    const known = this.#kept.get(id)?.steps;
    const now = this.#clock.now();
    return new Map(
      steps.flatMap((step) => {
        const at = known?.get(step);
        return at === undefined ? [] : [[step, now - at] as const];
      }),
    );
  }

  #dropOld(): void {
    for (const [id, kept] of this.#kept) {
      if (kept.until > this.#clock.now()) return;
      this.#drop(id, kept);
    }
  }

  #drop(id: string, kept: Kept | undefined): void {
    if (kept === undefined) return;
    this.#kept.delete(id);
    const left = (this.#ofTenant.get(kept.tenant) ?? 1) - 1;
    if (left > 0) this.#ofTenant.set(kept.tenant, left);
    else this.#ofTenant.delete(kept.tenant);
  }
}
