// RegistryHints: what replicas tell each other of the tools they hold. Hints alone: the truth stays with the sources, which
// every replica reads for itself. Failure policy: continue; without it, a change is noticed by polling.

export interface ReplicaState {
  readonly id: string;
  /** The registry's version. */
  readonly version: string;
  /** sha256 of the whole set, hex: equal exactly where the tools are. */
  readonly hash: string;
}

export interface SeenReplica extends ReplicaState {
  /** Epoch milliseconds, by one clock for all replicas. */
  readonly seenAt: number;
}

/** A replica that has not been heard of for so long is not there. */
export const REPLICA_LIFE_MS = 15_000;

export interface RegistryHints {
  /** Tells every listener, this process's own included; who does not listen at this moment never hears of it. */
  announce(state: ReplicaState): Promise<void>;
  /** The returned function ends it. */
  onHint(listener: (state: ReplicaState) => void): () => void;
  /** Notes that the replica lives and gives all that do, itself included, in one step. */
  heartbeat(state: ReplicaState): Promise<readonly SeenReplica[]>;
  /** The replica is no more. */
  leave(id: string): Promise<void>;
}
