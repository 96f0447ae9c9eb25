// What the claims of a verified token mean here, by the settings of its issuer: for whom it speaks, and which tenants it serves.
import { toolFailure } from '../../contract/call/failure.ts';
import type { IssuerSettings } from '../../settings/auth-settings.ts';
import { ANY, servesOf, type Serves } from '../identity/serves.ts';

export interface TokenClaims {
  readonly subject: string;
  readonly serves: Serves;
  readonly agents: readonly string[];
  readonly user: string | undefined;
  /** Values of the roles' claim that the settings know. */
  readonly groups: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;
type ClaimPath = string | readonly string[];

const MOST_VALUES = 100;
/** Written into records and log lines: no control, format or half characters. */
const PLAIN = /^[^\p{C}]{1,255}$/u;

/** Undefined: a claim that is needed is not there, or is no text. Throws ToolFailure PERMISSION_DENIED (TENANT_NOT_ALLOWED). */
export function readClaims(claims: Claims, issuer: IssuerSettings): TokenClaims | undefined {
  const { tenant, roles, agents, user } = issuer.claims;
  const [subject] = textsAt(claims, 'sub');
  const [who] = user === false ? [] : textsAt(claims, user);
  if (subject === undefined || (user !== false && who === undefined)) return undefined;
  return {
    subject,
    serves: tenant === undefined ? servesOf(issuer.tenants) : servedBy(textsAt(claims, tenant), issuer),
    agents: agents === undefined ? [ANY] : withoutStars(textsAt(claims, agents)),
    user: who,
    groups:
      roles === undefined ? [] : textsAt(claims, roles).filter((value) => Object.hasOwn(issuer.roles, value)),
  };
}

/** Roles of this gateway, as the settings map them now. */
export function rolesOf(groups: readonly string[], issuer: IssuerSettings): readonly string[] {
  const mapped = groups.flatMap((value) =>
    Object.hasOwn(issuer.roles, value) ? (issuer.roles[value] ?? []) : [],
  );
  return [...new Set([...issuer.default_roles, ...mapped])];
}

/** What the settings let an issuer speak for, whatever its tokens say. */
export function mayServe({ tenants }: IssuerSettings, tenant: string): boolean {
  return tenants === ANY || tenants[0] === ANY || tenants.includes(tenant);
}

/** A star in a claim is no name, and stands for nobody. */
function servedBy(named: readonly string[], issuer: IssuerSettings): Serves {
  const tenants = withoutStars(named).filter((tenant) => mayServe(issuer, tenant));
  if (tenants.length > 0) return servesOf(tenants);
  throw toolFailure('TENANT_NOT_ALLOWED', 'The token names no tenant that its issuer may speak for here.', {
    details: { field: 'tenant_id' },
  });
}

function withoutStars(names: readonly string[]): readonly string[] {
  return names.filter((name) => !name.includes(ANY));
}

/** Own members alone; what is no plain text is left out. */
function textsAt(claims: Claims, path: ClaimPath): readonly string[] {
  let at: unknown = claims;
  for (const name of typeof path === 'string' ? [path] : path) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name)) return [];
    at = (at as Claims)[name];
  }
  const values: readonly unknown[] = Array.isArray(at) ? at.slice(0, MOST_VALUES) : [at];
  return values.filter((value) => typeof value === 'string' && PLAIN.test(value)) as readonly string[];
}
