// SessionStore: declared conversations in the gateway's own database, shared by its replicas.
import type { InteractionMode } from '../../contract/tool/tool-spec.ts';

export interface NewSession {
  readonly id: string;
  readonly tenantId: string;
  /** The credential that declared it. */
  readonly principalId: string;
  /** Empty: none is named. */
  readonly agentId: string;
  readonly userId: string;
  /** Null: calls say it themselves. */
  readonly mode: InteractionMode | null;
  /** The set of tools that its calls are made in. */
  readonly registryVersion: string;
  readonly registryHash: string;
  readonly idleMs: number;
  readonly maxAgeMs: number;
}

export interface SessionRecord extends Omit<NewSession, 'maxAgeMs'> {
  /** The last that was begun; 1 at first. */
  readonly turn: number;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  /** Over then, however much it is used. */
  readonly expiresAt: Date;
  /** Over then or since then, unless it is used before. */
  readonly overAt: Date;
  /** Until then, by the clock of the database. */
  readonly leftMs: number;
  /** Null: nobody has ended it. */
  readonly endedAt: Date | null;
  readonly endedBy: string | null;
}

export interface SessionQuery {
  /** Undefined: whoever declared it. */
  readonly principalId: string | undefined;
  readonly agentId: string | undefined;
  readonly userId: string | undefined;
  /** Only those that are not over. */
  readonly active: boolean;
  readonly limit: number;
  /** Only those declared before this one. */
  readonly before: string | undefined;
}

/** Content hashes of the tools of a set, by name. */
export type ToolHashes = ReadonlyMap<string, string>;

/** When a session was used last, as long ago as this. */
export interface SessionUse {
  readonly id: string;
  readonly agoMs: number;
}

/** Every method rejects with ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE) while the database is away. */
export interface SessionStore {
  /** Undefined: the tenant has `most` already that are not over. The set of tools is kept with it. */
  create(session: NewSession, tools: ToolHashes, most: number): Promise<SessionRecord | undefined>;
  /** Of any tenant, in any state; those that are not there are left out. */
  find(ids: readonly string[]): Promise<readonly SessionRecord[]>;
  /** Newest first. */
  list(tenantId: string, query: SessionQuery): Promise<readonly SessionRecord[]>;
  /** As it is then: whoever ends it twice finds the first end. Undefined: no such session. */
  end(tenantId: string, id: string, by: string): Promise<SessionRecord | undefined>;
  /** Undefined: no such session, or it is over. */
  nextTurn(tenantId: string, id: string): Promise<SessionRecord | undefined>;
  /** Moves the end of those that are not over. */
  touch(uses: readonly SessionUse[]): Promise<void>;
  /** Undefined: it is not kept any more. */
  toolsOf(registryHash: string): Promise<ToolHashes | undefined>;
}
