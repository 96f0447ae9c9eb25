// ReplicaView: the replicas of this gateway and whether they hold the same tools, for operators.
import type { SeenReplica } from './registry-hints.ts';

export interface ReplicaView {
  /** This process. */
  readonly id: string;
  /** As of the last heartbeat; this process alone before the first. */
  replicas(): readonly SeenReplica[];
  agree(): boolean;
}
