// MemoryRegistryHints: the replicas of one process, which is one of them, or a few in tests.
import type { Clock } from '../../ports/clock.ts';
import {
  REPLICA_LIFE_MS,
  type RegistryHints,
  type ReplicaState,
  type SeenReplica,
} from '../../ports/registry/registry-hints.ts';

export class MemoryRegistryHints implements RegistryHints {
  readonly #clock: Clock;
  readonly #seen = new Map<string, SeenReplica>();
  readonly #listeners = new Set<(state: ReplicaState) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async announce(state: ReplicaState): Promise<void> {
    for (const listener of this.#listeners) listener(state);
  }

  onHint(listener: (state: ReplicaState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async heartbeat({ id, version, hash }: ReplicaState): Promise<readonly SeenReplica[]> {
    const now = this.#clock.wall();
    this.#seen.set(id, { id, version, hash, seenAt: now });
    for (const [each, { seenAt }] of this.#seen) {
      if (Math.abs(now - seenAt) >= REPLICA_LIFE_MS) this.#seen.delete(each);
    }
    return [...this.#seen.values()];
  }

  async leave(id: string): Promise<void> {
    this.#seen.delete(id);
  }
}
