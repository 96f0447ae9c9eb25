// TrustedDefinitions: definitions of tools on other people's servers, as an operator agreed to them and as they were seen last.
import type { JsonObject } from '../../contract/json.ts';

/**
 * pinned: as agreed to. changed: agreed to once, and something else now. new: nobody has agreed to it. gone: agreed to,
 * and not in the server's last list.
 */
export const DEFINITION_STATES = ['pinned', 'changed', 'new', 'gone'] as const;
export type DefinitionState = (typeof DEFINITION_STATES)[number];

export interface DefinitionRecord {
  /** The connection's name. */
  readonly server: string;
  /** What the gateway calls it: `files.read_file`. */
  readonly tool: string;
  /** What the server calls it. */
  readonly remoteName: string;
  readonly state: DefinitionState;
  readonly pinned?: PinnedDefinition;
  /** What the server's last list says. Absent: gone, or as pinned. */
  readonly seen?: SeenDefinition;
}

export interface PinnedDefinition {
  readonly hash: string;
  /** As the server gave it: every word is untrusted. */
  readonly definition: JsonObject;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Credential id of who agreed; empty: nobody was asked, it was there at the first sight of the server. */
  readonly by: string;
}

/** Either a definition, or why the gateway cannot take it as a tool: such a one cannot be approved. */
export type SeenDefinition =
  | { readonly hash: string; readonly definition: JsonObject }
  | { readonly refused: string };

export interface ListedDefinition {
  readonly tool: string;
  readonly remoteName: string;
  readonly seen: SeenDefinition;
}

export interface DefinitionListing {
  readonly server: string;
  /** The whole list, each remote name once. */
  readonly definitions: readonly ListedDefinition[];
  /** At the first listing of a server: agree to all of it. Later ones are never agreed to by themselves. */
  readonly pinFirst: boolean;
}

export type ApprovalOutcome =
  | { readonly approved: true; readonly record: DefinitionRecord }
  /** `other`: what the server has now is not what was approved. `refused`: it cannot be a tool. */
  | { readonly approved: false; readonly why: 'unknown' | 'other' | 'refused' };

/** What cannot be kept is not in force: `record` and `approve` throw ToolFailure UNAVAILABLE (PINS_UNAVAILABLE). */
export interface TrustedDefinitions {
  /** Undefined: this server has never listed anything. */
  of(server: string): Promise<readonly DefinitionRecord[] | undefined>;
  /** Compares a server's list with what is pinned, keeps it, and tells how each definition stands. */
  record(listing: DefinitionListing): Promise<readonly DefinitionRecord[]>;
  /** Of all servers that were asked for since the start, sorted by tool. */
  list(): Promise<readonly DefinitionRecord[]>;
  /** Agrees to the definition of this hash, if that is what was seen last. The same again is answered alike. */
  approve(tool: string, hash: string, by: string): Promise<ApprovalOutcome>;
}
