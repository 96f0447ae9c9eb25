// Who a request on the management side was let in for.
import type { FastifyRequest } from 'fastify';
import type { Principal } from '../../../contract/call/principal.ts';

export interface Admitted {
  readonly principal: Principal;
  /** Whose records the act goes into. */
  readonly tenants: ReadonlySet<string>;
  readonly affects: (tenantId: string) => void;
}

type ManagedRequest = FastifyRequest & { admitted?: Admitted };

export function admit(request: FastifyRequest, principal: Principal): Admitted {
  const tenants = new Set([principal.tenantId]);
  const admitted = { principal, tenants, affects: (tenantId: string) => void tenants.add(tenantId) };
  (request as ManagedRequest).admitted = admitted;
  return admitted;
}

/** Of a route that says what it requires. */
export function admittedOf(request: FastifyRequest): Admitted {
  const { admitted } = request as ManagedRequest;
  if (admitted === undefined) throw new Error('this route says nothing of what it requires');
  return admitted;
}
