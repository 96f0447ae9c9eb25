// AdmittedCall: a call that may run later: who, what, which version, what was approved. Plain data, to be kept as JSON.
import type { JsonObject } from '../json.ts';
import type { ToolContext } from './tool-context.ts';
import type { VersionSource } from './version-source.ts';

/** It holds no credential and no token: who it is for is a name and permissions. */
export interface AdmittedCall {
  readonly callId: string;
  readonly tool: string;
  /** As validation passed them on. */
  readonly arguments: JsonObject;
  readonly context: ToolContext;
  readonly providerCallId?: string;
  /** The caller's own limit for the run, milliseconds. */
  readonly timeoutMs?: number;
  /** Content hash of the tool's definition then. */
  readonly toolHash: string;
  /** Why its context names a version, where it does. */
  readonly versionSource?: VersionSource;
  /** What was assigned when it was accepted holds. Undefined: what is assigned when it runs. */
  readonly keepsVersion?: true;
  /** Whether a human has approved it, or would have to today. */
  readonly approved: boolean;
  /** What would run, as it was when a human approved it. */
  readonly runs?: string;
  readonly grant: Grant;
}

/** Who made a call, and what it was allowed then; what it is allowed now is asked when the call runs. */
export interface Grant {
  readonly principalId: string;
  readonly tenantId: string;
  readonly permissions: readonly string[];
  /** What the token said that made the call, where it was one. */
  readonly token?: TokenGrant;
}

export interface TokenGrant {
  /** Values that the settings of its issuer map to roles. */
  readonly groups: readonly string[];
  readonly agents: readonly string[];
  readonly userId?: string;
}
