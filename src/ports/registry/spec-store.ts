// SpecStore: definitions of tools that are changed while the gateway runs, and every version that was ever in force. Failure
// policy: what is in force stays in force; changes and unknown versions are refused with UNAVAILABLE.
import type { JsonObject } from '../../contract/json.ts';

export interface NewToolVersion {
  readonly name: string;
  /** sha256 of the definition, hex: what a caller pins. */
  readonly contentHash: string;
  /** `metadata.version`: what its writer calls it. */
  readonly version: string;
  /** As an operator writes it, snake_case. Its keys keep their order. */
  readonly document: JsonObject;
  /** Whether it was written here, or seen in what another loader brought. */
  readonly source: 'database' | 'loader';
  /** Absolute folder that relative paths in it start from; empty: that of gateway.yaml. */
  readonly baseDir: string;
  /** Credential id; empty for what a loader brought. */
  readonly createdBy: string;
  readonly note: string;
}

/** Never changed once it is there. */
export interface ToolVersion extends NewToolVersion {
  readonly createdAt: Date;
}

/** Which version of a tool is in force, and whether it is at all. */
export interface ToolHead {
  readonly name: string;
  readonly contentHash: string;
  readonly version: string;
  readonly document: JsonObject;
  readonly enabled: boolean;
  /** Counts the changes of this head from 1: who changes it says which one was looked at. */
  readonly revision: number;
  readonly updatedBy: string;
  readonly updatedAt: Date;
  readonly note: string;
}

export interface Heads {
  /** Counts the changes of all heads: equal exactly where nothing was changed. */
  readonly generation: number;
  /** By name, those that are switched off too. */
  readonly heads: readonly ToolHead[];
}

export type SpecAction = 'put' | 'rollback' | 'disable';

export interface SpecChange {
  readonly name: string;
  readonly revision: number;
  readonly action: SpecAction;
  readonly contentHash: string;
  readonly by: string;
  readonly note: string;
  readonly at: Date;
}

export interface HeadChange {
  readonly action: SpecAction;
  readonly name: string;
  readonly contentHash: string;
  readonly by: string;
  readonly note: string;
  /** Kept with the change, unless it is there already. */
  readonly version?: NewToolVersion;
  /** The change is made only to this revision of the head; 0: only if there is none that is switched on. */
  readonly ifRevision?: number;
  /** The change is made only while nothing else was: it was judged together with all other tools. */
  readonly ifGeneration?: number;
}

export type CommitOutcome =
  | { readonly committed: true; readonly revision: number }
  | { readonly committed: false; readonly why: 'revision' | 'generation' };

/** Versions and changes kept of one tool: the oldest that are not in force go. */
export const MOST_VERSIONS = 1_000;

/** All that loading needs. */
export interface SpecReader {
  /** Cheap: asked every few seconds by every replica. */
  generation(): Promise<number>;
  heads(): Promise<Heads>;
}

export interface SpecStore extends SpecReader {
  head(name: string): Promise<ToolHead | undefined>;
  commit(change: HeadChange): Promise<CommitOutcome>;
  /** Keeps what is not there yet. May refuse with UNAVAILABLE where it would have to open a database for that. */
  record(versions: readonly NewToolVersion[]): Promise<void>;
  version(name: string, contentHash: string): Promise<ToolVersion | undefined>;
  /** The newest one that its writer called so. */
  versionCalled(name: string, version: string): Promise<ToolVersion | undefined>;
  /** Newest first. */
  versions(name: string, limit: number): Promise<readonly ToolVersion[]>;
  /** Newest first. */
  changes(name: string, limit: number): Promise<readonly SpecChange[]>;
}
