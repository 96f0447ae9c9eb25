// AgentTokens: access tokens of the accounts that agents are connected to, in memory while they are good: no call asks the database.
import type { Principal } from '../../contract/call/principal.ts';
import type { ManagedAuth } from '../../contract/tool/tool-spec.ts';

/** Who needs a token, and for what. */
export interface TokenWanted {
  readonly tenantId: string;
  readonly agent: string;
  readonly auth: ManagedAuth;
  /** Whoever calls: told where to connect the account, if it may. */
  readonly principal: Principal | undefined;
}

/** Failures are ToolFailure AUTH (NOT_CONNECTED, NEEDS_REAUTH) and UNAVAILABLE. */
export interface AgentTokens {
  /** Nothing: as far as is known, there is a token. Throws, or rejects, where the account has to be connected first. */
  check(wanted: TokenWanted): void | Promise<void>;
  /** One that is good now. */
  token(wanted: TokenWanted): Promise<string>;
  /** An upstream did not take it: the next one is a fresh one, if that can be had. */
  refused(wanted: TokenWanted): void;
}
