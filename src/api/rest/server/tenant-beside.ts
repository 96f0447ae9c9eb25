// What the header X-UTE-Tenant says of a call that a management route makes: the tenant as the guard of the route found it named.
import type { FastifyRequest } from 'fastify';
import type { Principal } from '../../../contract/call/principal.ts';
import type { ToolContext } from '../../../contract/call/tool-context.ts';
import { TENANT_KEY } from '../../named-tenant.ts';

export function tenantBeside(
  { tenantId }: Principal,
  { headers: { [TENANT_KEY]: named } }: Pick<FastifyRequest, 'headers'>,
): Pick<ToolContext, 'tenantId'> {
  return named === undefined ? {} : { tenantId };
}
