// Authenticator: turns what a caller presented into a principal. The same for every door and both sides.
import type { Credential, Principal } from '../contract/call/principal.ts';

export interface Authenticator {
  /** Throws ToolFailure AUTH; the message does not tell an unknown key from a wrong secret. Answered from memory. */
  authenticate(credential: Credential): Principal;
  /** The principal of a credential that was checked before, as it stands now. Throws ToolFailure AUTH if it is good no more. */
  recall(principalId: string): Principal;
}
