// Principal: who a call is made by, once its credential has been checked.

export interface Principal {
  /** Stable id of the credential, safe to log: an API key's id, never its secret. */
  readonly id: string;
  /** Empty: it belongs to no tenant, administers the platform, and calls no tools. */
  readonly tenantId: string;
  /** Agents this credential may speak for; `*` = any of the tenant. */
  readonly agents: readonly string[];
  /** When set, the only user this credential may speak for. */
  readonly userId?: string;
  readonly roles: readonly string[];
  /** Resolved from the roles at load; may hold `*` and `area:*`. */
  readonly permissions: ReadonlySet<string>;
  /** Set where a token says who it is: nobody can ask for that again, so that calls to come keep it. */
  readonly token?: { readonly groups: readonly string[] };
}

/** What a caller presented, as found on the wire. */
export type Credential =
  | { readonly kind: 'none' }
  /** Two or more that say different things: nobody decides which of them counts. */
  | { readonly kind: 'several'; readonly from?: ClientAddress }
  | { readonly kind: 'bearer'; readonly token: string; readonly from?: ClientAddress }
  | { readonly kind: 'certificate'; readonly certificate: ClientCertificate };

/** Where it came from, as found on the wire. */
export interface ClientAddress {
  /** The other end of the connection. */
  readonly peer: string;
  /** X-Forwarded-For, which anybody may write: to be believed of a trusted peer alone. */
  readonly forwardedFor?: string;
}

/** Of a connection, where nothing else was presented. TLS has verified it. */
export interface ClientCertificate {
  readonly subject: { readonly [attribute: string]: string | readonly string[] | undefined };
  /** As Node writes them, in one text. */
  readonly subjectAltName: string;
  /** By `Clock.wall()`. */
  readonly validTo: number;
}

export const NO_CREDENTIAL: Credential = { kind: 'none' };

/** The principal with what it was granted then and still holds. */
export function stillGranted(principal: Principal, granted: readonly string[]): Principal {
  const then = { ...principal, permissions: new Set(granted) };
  const now = [...principal.permissions].filter((permission) => holds(then, permission));
  const both = granted.filter((permission) => holds(principal, permission));
  return { ...principal, permissions: new Set([...now, ...both]) };
}

/** What reaches every tenant of the gateway. A tenant's `*` is everything of that tenant, and none of these. */
export const PLATFORM_PERMISSIONS: readonly string[] = ['platform:*', 'specs:*'];

/** There without being declared; gateway.yaml may redefine them. */
export const BUILT_IN_ROLES: Readonly<Record<string, readonly string[]>> = {
  admin: ['*'],
  agent: ['tools:read', 'tools:call'],
  platform_admin: ['*', ...PLATFORM_PERMISSIONS],
};

/** The first that is neither built in nor one of `auth.roles`. Undefined: all of them are there. */
export function unknownRole(
  roles: readonly string[],
  declared: Readonly<Record<string, unknown>>,
): string | undefined {
  return roles.find((role) => !Object.hasOwn(BUILT_IN_ROLES, role) && !Object.hasOwn(declared, role));
}

export function isOfPlatform(permission: string): boolean {
  return permission.startsWith('platform:') || permission.startsWith('specs:');
}

/** True if the permission, its area's wildcard (`math:*`) or, where it is no permission of the platform, `*` is held. */
export function holds({ permissions }: Pick<Principal, 'permissions'>, permission: string): boolean {
  if (permissions.has(permission) || (permissions.has('*') && !isOfPlatform(permission))) return true;
  const area = permission.indexOf(':');
  return area > 0 && permissions.has(`${permission.slice(0, area)}:*`);
}
