// The management side's permissions: a principal that holds what the route needs, or a ToolFailure.
import type { FastifyRequest } from 'fastify';
import { holds, isOfPlatform, type Principal } from '../../contract/principal.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import { credentialOf } from './read-call.ts';

/** What reaches every tenant of the gateway: the kill switch, reload, circuits, definitions, replicas, replay. */
export const PLATFORM = 'platform:admin';

export function requirePermission(
  authenticator: Authenticator,
  request: FastifyRequest,
  permission: string,
): Principal {
  const principal = authenticator.authenticate(credentialOf(request.headers));
  demand(principal, permission);
  return principal;
}

export function demand(principal: Principal, permission: string): void {
  if (holds(principal, permission)) return;
  const hint = isOfPlatform(permission)
    ? ' It concerns every tenant, and the role admin of a tenant does not hold it: use a key with the role platform_admin.'
    : '';
  throw new ToolFailure('PERMISSION_DENIED', `This needs the permission ${permission}.${hint}`, {
    reason: 'PERMISSION_MISSING',
    details: { permission },
  });
}
