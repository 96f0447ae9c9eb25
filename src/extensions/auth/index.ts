// auth: who is calling, and for whom may it speak. Binds tenant, agent and user to the credential.
import { z } from 'zod';
import type { ExtensionPlugin, Next, RequestExtension } from '../../contract/plugin.ts';
import { boundTo } from '../../contract/call/bound-to.ts';
import { holds, stillGranted, type Principal } from '../../contract/call/principal.ts';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import type { ToolContext } from '../../contract/call/tool-context.ts';
import { grantOf, type ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Clock } from '../../ports/clock.ts';
import { FloodGuard } from './flood-guard.ts';
import { whole } from '../../lib/settings/whole.ts';

const optionsSchema = z.strictObject({
  flood_rate: whole(1).default(20_000).describe('Calls per second one credential may make.'),
});
type AuthOptions = z.infer<typeof optionsSchema>;
interface Needs {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
}

export const auth: ExtensionPlugin<AuthOptions, Needs> = {
  name: 'auth',
  summary: 'Checks the credential and binds tenant, agent and user of the call to it.',
  optionsSchema,
  create: ({ authenticator, clock }) => createAuth(authenticator, clock),
};

function createAuth(authenticator: Authenticator, clock: Clock): RequestExtension<AuthOptions> {
  const guard = new FloodGuard();
  return {
    stage: 'request',
    onFailure: 'deny',
    explains: true,
    prepare({ flood_rate: floodRate }) {
      function mayCall(principal: Principal, call: ToolCall): ToolContext {
        try {
          guard.check(principal.id, floodRate, clock.now());
          if (!holds(principal, 'tools:call')) throw missing('tools:call');
          return boundTo(principal, call.context);
        } catch (error) {
          call.progress.caller = recognized(principal);
          throw error;
        }
      }
      function enter(principal: Principal, call: ToolCall, next: Next): Promise<ToolResponse> {
        const context = mayCall(principal, call);
        call.progress.caller = { principal, context };
        return next({ ...call, principal, context });
      }
      return function authenticate(call, next) {
        let principal: Principal | Promise<Principal>;
        try {
          principal = principalOf(call, authenticator);
        } catch (error) {
          throw noted(call, error);
        }
        // A key is known at once, and whoever shows one waits for nothing.
        if (!(principal instanceof Promise)) return enter(principal, call, next);
        const known = principal.catch((error: unknown) => {
          throw noted(call, error);
        });
        return known.then((late) => enter(late, call, next));
      };
    },
  };
}

/** Whoever speaks now, or for whom the call was admitted: with what was granted then and is granted still. */
function principalOf(call: ToolCall, authenticator: Authenticator): Principal | Promise<Principal> {
  const grant = grantOf(call);
  if (grant === undefined) return whoSpeaks(call, authenticator);
  const principal = authenticator.recall(grant);
  if (principal.tenantId !== grant.tenantId) {
    const message = 'The credential that made the call belongs to another tenant now.';
    throw toolFailure('CREDENTIAL_REVOKED', message);
  }
  return stillGranted(principal, grant.permissions);
}

function whoSpeaks(
  { request, context }: ToolCall,
  authenticator: Authenticator,
): Principal | Promise<Principal> {
  // A body that nobody could read may have named a tenant: its caller is told what is wrong with that.
  const told = (error: unknown): never => {
    const isNameless = error instanceof ToolFailure && isReason(error, 'TENANT_REQUIRED');
    throw isNameless ? (request.refusal ?? error) : error;
  };
  try {
    const principal = authenticator.authenticate(request.credential, context.tenantId);
    return principal instanceof Promise ? principal.catch(told) : principal;
  } catch (error) {
    return told(error);
  }
}

/** Who is refused is on record as well, where the credential itself is good: with nothing of what the call says of itself. */
function noted(call: ToolCall, error: unknown): unknown {
  if (error instanceof ToolFailure && error.by !== undefined) call.progress.caller = recognized(error.by);
  return error;
}

function recognized(principal: Principal) {
  return { principal, context: { tenantId: principal.tenantId } };
}

function missing(permission: string): ToolFailure {
  return toolFailure('PERMISSION_MISSING', `This credential does not hold the permission ${permission}.`, {
    details: { permission },
  });
}
