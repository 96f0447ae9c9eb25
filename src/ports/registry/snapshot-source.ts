// SnapshotSource: lends the set of tools in force to a call, and learns when the call is done with it.
import type { RegistrySnapshot } from '../../contract/tool/registry-snapshot.ts';

export interface SnapshotSource {
  /** The set in force, or the one given, which a call that runs must hold already. */
  enter(held?: RegistrySnapshot): RegistrySnapshot;
  /** Exactly once per `enter`. When the last call leaves a superseded snapshot, what only it used is closed. */
  leave(snapshot: RegistrySnapshot): void;
  isDisabled(toolName: string): boolean;
}
