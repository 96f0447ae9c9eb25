// Which tenants a credential serves, and for which of them one request is. The same for keys, tokens and certificates.
import { toolFailure } from '../../contract/call/failure.ts';
import type { Principal } from '../../contract/call/principal.ts';

/** One tenant; none: the platform's (''); several, each by its name; or any that is named. */
export type Serves =
  | { readonly kind: 'one'; readonly tenant: string }
  | { readonly kind: 'several'; readonly tenants: ReadonlySet<string> }
  | { readonly kind: 'any' };

/** What is known of a credential before a request says for which tenant it is. */
export interface Identity {
  /** Its tenant is that of a credential that serves one; of any other it is empty. */
  readonly principal: Principal;
  readonly serves: Serves;
}

/** Stands alone in a list of tenants: any. */
export const ANY = '*';

/**
 * No control, format or private characters, no half characters, and nothing that stands for several. No space at an end: "acme "
 * would be another tenant than "acme", and nobody would see it.
 */
const NAME = /^[^\p{C}*\s](?:[^\p{C}*]{0,198}[^\p{C}*\s])?$/u;

/** Whether it can be one of several tenants that a credential serves. */
export function isTenantName(text: string): boolean {
  return NAME.test(text);
}

/** `tenants`: names, or the star alone. A star among names names nobody. */
export function servesOf(tenants: readonly string[] | typeof ANY): Serves {
  if (tenants === ANY || (tenants.length === 1 && tenants[0] === ANY)) return { kind: 'any' };
  const named = new Set(tenants.filter(isTenantName));
  const [only, ...others] = named;
  if (only !== undefined && others.length === 0) return { kind: 'one', tenant: only };
  return { kind: 'several', tenants: named };
}

/** Throws ToolFailure: VALIDATION (TENANT_REQUIRED), PERMISSION_DENIED (TENANT_MISMATCH, TENANT_NOT_ALLOWED). */
export function inTenant({ principal, serves }: Identity, named: string | undefined): Principal {
  if (serves.kind === 'one') {
    if (named === undefined || named === serves.tenant) return principal;
    throw serves.tenant === '' ? notAllowed('belongs to no tenant', principal) : foreign(principal);
  }
  if (named === undefined) throw required(principal);
  if (isServed(serves, named)) return { ...principal, tenantId: named };
  throw notAllowed('does not serve the tenant that the request names', principal);
}

/** Whether a call that was made for the tenant may still be. */
export function stillServes({ serves }: Identity, tenant: string): boolean {
  return serves.kind === 'one' ? serves.tenant === tenant : isServed(serves, tenant);
}

function isServed(serves: Exclude<Serves, { kind: 'one' }>, tenant: string): boolean {
  return serves.kind === 'any' ? isTenantName(tenant) : serves.tenants.has(tenant);
}

const NAMED_BY =
  'context.tenant_id (tenant_id in the first message of a stream), the header X-UTE-Tenant, or the metadata x-ute-tenant';

function required(by: Principal) {
  return toolFailure(
    'TENANT_REQUIRED',
    `This credential serves several tenants, so every request names its own: by ${NAMED_BY}.`,
    { by, details: { field: 'tenant_id' } },
  );
}

function notAllowed(why: string, by: Principal) {
  const details = { field: 'tenant_id' };
  return toolFailure('TENANT_NOT_ALLOWED', `This credential ${why}.`, { by, details });
}

function foreign(by: Principal) {
  const message = 'This credential may not speak for the tenant that the request names.';
  return toolFailure('TENANT_MISMATCH', message, { by, details: { field: 'tenant_id' } });
}
