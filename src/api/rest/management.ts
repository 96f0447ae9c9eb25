// The management side's doorman: a principal with the permission that the route needs, or a ToolFailure.
import type { FastifyRequest } from 'fastify';
import { holds, type Principal } from '../../contract/principal.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import { credentialOf } from './read-call.ts';

export function requirePermission(
  authenticator: Authenticator,
  request: FastifyRequest,
  permission: string,
): Principal {
  const principal = authenticator.authenticate(credentialOf(request.headers));
  if (holds(principal, permission)) return principal;
  throw new ToolFailure('PERMISSION_DENIED', `This needs the permission ${permission}.`, {
    reason: 'PERMISSION_MISSING',
    details: { permission },
  });
}
