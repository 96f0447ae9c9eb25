// Who a request on the management side was let in for.
import type { FastifyRequest } from 'fastify';
import type { Principal } from '../../../contract/call/principal.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';

export interface Admitted {
  readonly principal: Principal;
  /** Whose records the act goes into. */
  readonly tenants: ReadonlySet<string>;
  readonly affects: (tenantId: string) => void;
  /** What the record of the act says besides. */
  readonly notes: JsonObject;
  readonly noting: (what: JsonObject) => void;
}

/** Of a request by REST. */
export interface AdmittedRequest extends Admitted {
  /** For what is answered for longer. Rejects with ToolFailure once the credential is good no more, or holds too little for the route. */
  readonly stillAllowed: () => Promise<void>;
}

type ManagedRequest = FastifyRequest & { admitted?: AdmittedRequest };

export function admit(
  request: FastifyRequest,
  principal: Principal,
  stillAllowed: () => Promise<void>,
): AdmittedRequest {
  const admitted = { ...admittedFor(principal), stillAllowed };
  (request as ManagedRequest).admitted = admitted;
  return admitted;
}

/** Of a door that is not REST. */
export function admittedFor(principal: Principal): Admitted {
  const tenants = new Set([principal.tenantId]);
  const notes: { [name: string]: JsonValue } = {};
  return {
    principal,
    tenants,
    notes,
    affects: (tenantId: string) => void tenants.add(tenantId),
    noting: (what: JsonObject) => void Object.assign(notes, what),
  };
}

/** Of a route that says what it requires. */
export function admittedOf(request: FastifyRequest): AdmittedRequest {
  const { admitted } = request as ManagedRequest;
  if (admitted === undefined) throw new Error('this route says nothing of what it requires');
  return admitted;
}
