// SpecControl: definitions of tools as operators change them while the gateway runs, and the versions there were.
import type { JsonObject } from '../../contract/json.ts';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import type { SpecAction, SpecChange, ToolHead, ToolVersion } from './spec-store.ts';

export interface SpecEdit {
  /** Credential id of who changes it. */
  readonly by: string;
  /** Why. */
  readonly note: string;
  /** Only if the head is at this revision; 0: only if there is none. */
  readonly ifRevision?: number;
}

export interface SpecReport {
  readonly name: string;
  readonly contentHash: string;
  readonly version: string;
}

export interface SpecOutcome extends SpecReport {
  readonly action: SpecAction;
  readonly revision: number;
  /** False: it was what is in force already. */
  readonly changed: boolean;
  /** Whether it is in force in this replica; otherwise `problems` says what keeps it from being. */
  readonly inForce: boolean;
  readonly registryVersion: string;
  readonly problems: readonly Problem[];
}

export interface SpecControl {
  /** By name, those that are switched off too. */
  list(): Promise<readonly ToolHead[]>;
  /** Throws ToolFailure NOT_FOUND (SPEC_NOT_FOUND). */
  get(name: string): Promise<ToolHead>;
  /** Judged together with all other tools, and nothing is kept. Throws VALIDATION (SPEC_INVALID) with every problem. */
  check(name: string, document: JsonObject): Promise<SpecReport & { readonly current?: ToolHead }>;
  /** Throws what `check` throws, and CONFLICT (VERSION_CONFLICT) where the head is not at the revision. */
  put(name: string, document: JsonObject, edit: SpecEdit): Promise<SpecOutcome>;
  /** The tool is no more; its versions stay. */
  disable(name: string, edit: SpecEdit): Promise<SpecOutcome>;
  /** An older version is put in force again, if it is still good. Throws NOT_FOUND (VERSION_GONE). */
  rollback(name: string, contentHash: string, edit: SpecEdit): Promise<SpecOutcome>;
  /** Of a tool of any loader. Newest first. Throws NOT_FOUND where nothing was ever known of the name. */
  versions(name: string, limit: number): Promise<readonly ToolVersion[]>;
  changes(name: string, limit: number): Promise<readonly SpecChange[]>;
  /** By content hash, or by what its writer calls it. Throws NOT_FOUND (VERSION_GONE). */
  version(name: string, wanted: string): Promise<ToolVersion>;
}
