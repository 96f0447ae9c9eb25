// SnapshotSource: lends the set of tools in force to a call, and learns when the call is done with it.
import type { RegistrySnapshot } from '../../contract/tool/registry-snapshot.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';

export interface SnapshotSource {
  /** The set in force, or the one given, which a call that runs must hold already. */
  enter(held?: ToolSet): RegistrySnapshot;
  /** Exactly once per `enter`. When the last call leaves a superseded snapshot, what only it used is closed. */
  leave(snapshot: ToolSet): void;
  isDisabled(toolName: string): boolean;
}
