// ToolVersions: other versions of a tool than the one in force, for calls that ask for one. Failure policy: deny; a call never runs
// another version than the one it asked for.
import type { CompiledTool } from '../../contract/tool/compiled-tool.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';

export interface BorrowedVersion {
  /** The function of the same name, as that version defines it. */
  readonly tool: CompiledTool;
  /** Exactly once, after the call: what nobody uses any more may be closed. */
  release(): void;
}

export interface ToolVersions {
  /**
   * `pin` is a content hash, or what its writer calls the version. Throws ToolFailure NOT_FOUND (VERSION_GONE) where there
   * is no such version, or it cannot run any more; UNAVAILABLE where that cannot be found out now.
   */
  take(inForce: ToolFunction, pin: string): Promise<BorrowedVersion>;
}
