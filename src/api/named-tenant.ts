// The tenant that a request names beside its body: in the header X-UTE-Tenant, or the metadata x-ute-tenant.
import { toolFailure } from '../contract/call/failure.ts';
import type { ToolFailure } from '../contract/call/tool-failure.ts';

export const TENANT_HEADER = 'X-UTE-Tenant';
export const TENANT_KEY = 'x-ute-tenant';

/** Printable ASCII, no space at either end. No comma: Node joins what a header says twice with one. */
export const TENANT_PATTERN = String.raw`^[!-+\--~](?:[ -+\--~]{0,198}[!-+\--~])?$`;

const NAME = new RegExp(TENANT_PATTERN);

/** Undefined: none is named. A ToolFailure is not thrown: a call is refused with it behind auth and audit. */
export function namedTenant(said: string | readonly string[] | undefined): string | undefined | ToolFailure {
  if (said === undefined) return undefined;
  return typeof said === 'string' && NAME.test(said) ? said : malformed();
}

/** Throws ToolFailure VALIDATION. */
export function tenantOrThrow(said: string | readonly string[] | undefined): string | undefined {
  const named = namedTenant(said);
  if (typeof named === 'object') throw named;
  return named;
}

function malformed(): ToolFailure {
  const message = 'must name one tenant, in 1 to 200 printable ASCII characters and no comma';
  return toolFailure('MALFORMED_CALL', `${TENANT_HEADER} ${message}.`, {
    details: { field: TENANT_KEY, violations: [{ pointer: '', message: `${TENANT_HEADER} ${message}` }] },
  });
}
