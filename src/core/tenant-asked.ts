// Whose things are meant where somebody manages what belongs to tenants: their own, or with the platform's permission any tenant's.
import { toolFailure } from '../contract/call/failure.ts';
import { holds, type Principal } from '../contract/call/principal.ts';

/** Who holds it reaches what every tenant has. */
export const PLATFORM = 'platform:admin';

/** `what`: as the refusal names them. Throws ToolFailure TENANT_REQUIRED, TENANT_MISMATCH. */
export function tenantAsked(by: Principal, wanted: string | undefined, what: string): string {
  const tenantId = wanted ?? by.tenantId;
  if (tenantId === '')
    throw toolFailure('TENANT_REQUIRED', 'This credential is of no tenant: name one with ?tenant=.', {
      details: { field: 'tenant' },
    });
  if (tenantId === by.tenantId || holds(by, PLATFORM)) return tenantId;
  throw toolFailure('TENANT_MISMATCH', `${what} of another tenant need the permission ${PLATFORM}.`, {
    details: { field: 'tenant' },
  });
}
