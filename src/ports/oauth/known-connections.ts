// KnownConnections: the connected accounts that calls use now, in memory. What another replica changes is known within seconds.
import type { Connection, ConnectionKey } from './connection-store.ts';

export interface KnownConnection {
  readonly connection: Connection;
  /** By `Clock.now()`; undefined: nobody knows. */
  readonly expiresAt: number | undefined;
  readonly refreshAt: number | undefined;
}

export interface KnownConnections {
  /** Undefined: it has to be loaded. Null: there is none. */
  peek(key: ConnectionKey): KnownConnection | null | undefined;
  /** As it stands in the database. Rejects with ToolFailure UNAVAILABLE. */
  load(key: ConnectionKey): Promise<KnownConnection | null>;
  /** What was just written. */
  put(connection: Connection): KnownConnection;
  /** It was deleted. */
  drop(key: ConnectionKey): void;
}
