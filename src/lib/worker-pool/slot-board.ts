// SlotBoard: the slots of a pool, and which of them a task may have.
import { mayTakeSlot } from './fair-share.ts';
import type { PoolSettings, PoolTask, PoolWorker } from './pool-options.ts';
import { Slot } from './slot.ts';

/** Tenants of whom a task waits on a level. */
export type WaitingTenants = (level: number) => readonly (string | undefined)[];

export interface BoardOptions {
  readonly settings: PoolSettings;
  readonly oneOwner: boolean;
  readonly waiting: WaitingTenants;
}

export class SlotBoard<W extends PoolWorker> {
  readonly #options: BoardOptions;
  readonly #slots = new Map<W, Slot<W>>();

  constructor(options: BoardOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#slots.size;
  }

  get all(): IterableIterator<Slot<W>> {
    return this.#slots.values();
  }

  add(worker: W): Slot<W> {
    const slot = new Slot(worker);
    this.#slots.set(worker, slot);
    return slot;
  }

  of(worker: W): Slot<W> | undefined {
    return this.#slots.get(worker);
  }

  remove(worker: W): boolean {
    return this.#slots.delete(worker);
  }

  /** Slots whose worker is neither being replaced nor about to end. */
  staying(): readonly Slot<W>[] {
    return [...this.all].filter(
      ({ retiring, leaving, worker }) => !retiring && !leaving && !worker.spoiled && !worker.ended,
    );
  }

  heldBy(tenant: string | undefined, level: number): number {
    let held = 0;
    for (const slot of this.all) if (slot.isHeldBy(tenant, level)) held += 1;
    return held;
  }

  tenantsAt(level: number): readonly (string | undefined)[] {
    return [...this.all].filter((slot) => slot.isHeldOn(level)).map(({ tenant }) => tenant);
  }

  /** A free one where the tenant may have it, else one of its own that has capacity; undefined: it has to wait. */
  find(task: PoolTask): Slot<W> | undefined {
    const { settings } = this.#options;
    let [inUse, held] = [0, 0];
    let free: Slot<W> | undefined;
    let joined: Slot<W> | undefined;
    for (const slot of this.all) {
      if (slot.isHeldOn(task.level)) inUse += 1;
      if (slot.isHeldBy(task.tenant, task.level)) held += 1;
      if (!slot.isUsable || !this.#mayHave(task, slot)) continue;
      if (slot.isFree) free = this.#better(task, slot, free);
      else if (
        slot.canBeJoinedBy(task, settings) &&
        !(joined && joined.worker.running <= slot.worker.running)
      )
        joined = slot;
    }
    // The kept slot is for tenants: what the gateway asks for itself takes one of the others.
    const counted = task.tenant === undefined ? Math.max(1, held) : held;
    if (free !== undefined && mayTakeSlot(settings.workers, inUse, counted)) return free;
    return joined !== undefined && this.#mayJoin(task, held) ? joined : undefined;
  }

  /** Free ones that only their owner may be given, the one that was used longest ago first. */
  bound(): readonly Slot<W>[] {
    return this.staying()
      .filter((slot) => slot.isFree && slot.isUsable && !slot.isSettling && this.#isBound(slot))
      .toSorted((one, other) => one.usedAt - other.usedAt);
  }

  /** The owner's own rather than one that anybody may be given, and never one that is bound to another. */
  #better(task: PoolTask, slot: Slot<W>, best: Slot<W> | undefined): Slot<W> | undefined {
    if (task.owner === undefined || !this.#isBound(slot)) return best ?? slot;
    return slot.owner === task.owner ? slot : best;
  }

  #mayHave({ owner, tenant, level }: PoolTask, slot: Slot<W>): boolean {
    if (!slot.isFree || !slot.isSettling || slot.owner === undefined) return true;
    return slot.owner === owner && this.#options.waiting(level).every((other) => other === tenant);
  }

  #isBound({ owner, worker }: Slot<W>): boolean {
    return owner !== undefined && (this.#options.oneOwner || worker.keepsOwner === true);
  }

  /**
   * Tasks that join a slot keep it from ever becoming free. While a tenant without a slot waits for one, those that
   * hold the most slots let theirs run empty.
   */
  #mayJoin({ level, owner }: PoolTask, held: number): boolean {
    if (owner === undefined) return true;
    const tenants = this.#options.waiting(level);
    if (!tenants.some((tenant) => this.heldBy(tenant, level) === 0)) return true;
    return held < this.#mostHeld(level);
  }

  #mostHeld(level: number): number {
    const held = new Map<string | undefined, number>();
    for (const slot of this.all) {
      if (slot.isHeldOn(level)) held.set(slot.tenant, (held.get(slot.tenant) ?? 0) + 1);
    }
    return Math.max(0, ...held.values());
  }
}
