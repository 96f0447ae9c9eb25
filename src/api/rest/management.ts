// The management side's permissions: a principal that holds what the route needs, or a ToolFailure.
import type { FastifyRequest } from 'fastify';
import { holds, isOfPlatform, type Principal } from '../../contract/call/principal.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import { wrongQuery } from './known-query.ts';
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
  refuseWrongQuery(request);
  return principal;
}

/** Of a route that asks for no permission by name. */
export function authenticated(authenticator: Authenticator, request: FastifyRequest): Principal {
  const principal = authenticator.authenticate(credentialOf(request.headers));
  refuseWrongQuery(request);
  return principal;
}

/** Throws ToolFailure VALIDATION for a query parameter that the route does not know. */
export function refuseWrongQuery(request: FastifyRequest): void {
  const wrong = wrongQuery(request);
  if (wrong !== undefined) throw wrong;
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
