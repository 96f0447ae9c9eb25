// Authenticator: turns what a caller presented into a principal. The same for every door and both sides.
import type { Grant } from '../contract/call/admitted-call.ts';
import type { Credential, Principal } from '../contract/call/principal.ts';

export interface Authenticator {
  /**
   * `tenant`: the one that the request names, by its context or beside it. The principal is of that tenant, or of the only
   * one that the credential serves. Throws ToolFailure AUTH; the message does not tell an unknown key from a wrong secret.
   * At once
   * for a key, and for a token that was verified before; else it rejects with what it throws. VALIDATION (TENANT_REQUIRED): it serves several, and none is named. PERMISSION_DENIED: it does not serve this one.
   */
  authenticate(credential: Credential, tenant?: string): Principal | Promise<Principal>;
  /** Who made a call, as it stands now, for the tenant of then. Throws ToolFailure AUTH if it is good no more. */
  recall(grant: Grant): Principal;
}
