// KeyStore: API keys in the gateway's own database, shared by its replicas. Of a secret it has the hash alone.

export interface NewKey {
  /** The public part of the key's text: it stays the same through rotations, and so does whoever calls with it. */
  readonly id: string;
  readonly name: string;
  /** Hash of the secret, 64 hex digits. */
  readonly secretSha256: string;
  /** Null: it serves several, or belongs to the platform. */
  readonly tenant: string | null;
  /** Those that it serves, where it is not one alone; a star alone: any. Null: it is of `tenant`. */
  readonly tenants: readonly string[] | null;
  readonly agents: readonly string[];
  readonly user: string | null;
  readonly roles: readonly string[];
  readonly createdBy: string;
  readonly expiresAt: Date | null;
}

export interface KeyRecord extends NewKey {
  readonly createdAt: Date;
  /** The secret from before the last rotation is good until then. Null: there is none. */
  readonly previousSha256: string | null;
  readonly previousExpiresAt: Date | null;
  /** Null: it is not revoked. What is revoked stays so. */
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
}

export interface KeyQuery {
  /** Undefined: of every tenant, and of the platform. */
  readonly tenant: string | undefined;
  /** With `tenant`: those that serve it among others, too. */
  readonly andShared?: boolean;
  readonly limit: number;
  /** Only ids after this one. */
  readonly after: string | undefined;
}

export interface KeysInForce {
  /** Grows with every change. */
  readonly generation: number;
  /** All that are not revoked. */
  readonly keys: readonly KeyRecord[];
}

/** Every method rejects with ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE) while the database is away. */
export interface KeyStore {
  generation(): Promise<number>;
  inForce(): Promise<KeysInForce>;
  /** By id. */
  list(query: KeyQuery): Promise<readonly KeyRecord[]>;
  get(id: string): Promise<KeyRecord | undefined>;
  /** Undefined: there are `most` already that are not revoked. */
  create(key: NewKey, most: number): Promise<KeyRecord | undefined>;
  /** The secret of now is good until `previousExpiresAt`, the one before it no more. Undefined: no such key, or revoked. */
  rotate(id: string, secretSha256: string, previousExpiresAt: Date): Promise<KeyRecord | undefined>;
  /** Undefined: no such key, or revoked. */
  expire(id: string, expiresAt: Date | null): Promise<KeyRecord | undefined>;
  /** Undefined: no such key, or revoked before. */
  revoke(id: string, by: string): Promise<KeyRecord | undefined>;
}
