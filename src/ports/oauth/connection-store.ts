// ConnectionStore: the accounts that agents are connected to, in the gateway's own database. Of tokens it has sealed texts alone.
import type { SealedSecretStore } from '../agents/agent-store.ts';

export interface ConnectionKey {
  readonly tenantId: string;
  readonly agent: string;
  readonly provider: string;
}

/** By name, each sealed for itself. */
export interface SealedTokens {
  readonly access_token: string;
  readonly refresh_token?: string;
}

export interface ConnectionDraft extends ConnectionKey {
  /** Of the provider that gave the tokens. */
  readonly providerKey: string;
  readonly scopes: readonly string[];
  readonly sealed: SealedTokens;
  /** Milliseconds from now; null: the provider does not say. */
  readonly expiresInMs: number | null;
  readonly refreshInMs: number | null;
}

export interface Connection extends ConnectionDraft {
  readonly state: 'connected' | 'needs_reauth';
  /** Another one after every change of the tokens, and never the same again. */
  readonly version: number;
  readonly connectedAt: Date;
  readonly connectedBy: string;
  readonly refreshedAt: Date | null;
  /** Why it could not be refreshed the last time; empty: it could. */
  readonly problem: string;
}

export interface ConnectedBy {
  /** Credential id. */
  readonly id: string;
  readonly userId?: string | null | undefined;
}

export interface Disconnected {
  /** Undefined: there was none. */
  readonly connection: Connection | undefined;
  /** Authorizations that were under way. */
  readonly flows: number;
}

export type RenewedTokens = Pick<ConnectionDraft, 'scopes' | 'sealed' | 'expiresInMs' | 'refreshInMs'>;

/** Every method rejects with ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE) while the database is away. */
export interface ConnectionStore extends SealedSecretStore {
  find(key: ConnectionKey): Promise<Connection | undefined>;
  /** Of those that are there. */
  versions(
    keys: readonly ConnectionKey[],
  ): Promise<readonly (ConnectionKey & { readonly version: number })[]>;
  /** By provider. */
  ofAgent(tenantId: string, agent: string): Promise<readonly Connection[]>;
  /**
   * In place of what was there, and the end of the flow by which it was agreed to. Undefined: the flow is not there any more. It
   * went with its agent, or with the account that was disconnected meanwhile.
   */
  connect(draft: ConnectionDraft, by: ConnectedBy, flow: string): Promise<Connection | undefined>;
  /** Whatever is under way to connect it ends as well. */
  delete(key: ConnectionKey): Promise<Disconnected>;
  /** Accounts that this person has connected, and those that are under way to be. */
  ofUser(tenantId: string, userId: string): Promise<readonly ConnectionKey[]>;
  /** The right to refresh it, for so long, of one replica alone. False: another one has it, or it was changed. */
  claim(key: ConnectionKey, version: number, leaseMs: number): Promise<boolean>;
  /** Undefined: it was changed meanwhile. */
  renew(key: ConnectionKey, version: number, tokens: RenewedTokens): Promise<Connection | undefined>;
  /** It could not be refreshed: the right to is given back. */
  release(key: ConnectionKey, version: number, problem: string): Promise<void>;
  /** Its refresh token is of no use any more. Does nothing where it was changed meanwhile. */
  expire(key: ConnectionKey, version: number, problem: string): Promise<void>;
}
