// The permissions of the management side: each route says what it requires, and one guard asks for it.
import {
  applyDecorators,
  Inject,
  Injectable,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { holds, isOfPlatform, type Principal } from '../../../contract/call/principal.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import { TENANT_KEY, tenantOrThrow } from '../../named-tenant.ts';
import { AUTHENTICATOR, MANAGEMENT_ACTS } from '../../tokens.ts';
import { credentialOf } from '../server/credential.ts';
import { admit, admittedFor } from './admitted.ts';
import { actOf, type Act, type ManagementActs } from './acts.ts';

/** What reaches every tenant of the gateway: the kill switch, reload, circuits, definitions, replicas, replay. */
export const PLATFORM = 'platform:admin';

const REQUIRED = 'rest:permissions';

/** One of these; a refusal names the first. None: any credential will do, and the handler asks for the rest. */
export function Requires(...permissions: readonly string[]): MethodDecorator {
  return applyDecorators(SetMetadata(REQUIRED, permissions), UseGuards(PermissionGuard));
}

@Injectable()
export class PermissionGuard implements CanActivate {
  constructor(
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { headers } = request;
    const tenant = tenantOrThrow(headers[TENANT_KEY]);
    const permissions: readonly string[] = Reflect.getMetadata(REQUIRED, context.getHandler());
    const authenticate = () => this.authenticator.authenticate(credentialOf(request), tenant);
    const act = actOf(context);
    const principal = await this.#recognized(authenticate, act);
    const admitted = admit(request, principal, async () => {
      const refusal = refusalOf(await authenticate(), permissions);
      if (refusal !== undefined) throw refusal;
    });
    const refusal = refusalOf(admitted.principal, permissions);
    if (refusal === undefined) return true;
    if (act !== undefined) await this.acts.refused(admitted, act, refusal);
    throw refusal;
  }

  /** Who is refused with a good credential, for a tenant that it does not serve, is on record as well. */
  async #recognized(
    authenticate: () => Principal | Promise<Principal>,
    act: Act | undefined,
  ): Promise<Principal> {
    try {
      return await authenticate();
    } catch (error) {
      if (!(error instanceof ToolFailure) || error.by === undefined || act === undefined) throw error;
      // Whoever still has a key that has expired could go on for ever.
      if (!isReason(error, 'CREDENTIAL_EXPIRED')) await this.acts.refused(admittedFor(error.by), act, error);
      throw error;
    }
  }
}

/** What a handler asks for beside its route's permission. Throws ToolFailure PERMISSION_DENIED. */
export function demand(principal: Principal, permission: string): void {
  if (!holds(principal, permission)) throw missing(permission);
}

function refusalOf(principal: Principal, permissions: readonly string[]): ToolFailure | undefined {
  const [first] = permissions;
  if (first === undefined || permissions.some((each) => holds(principal, each))) return undefined;
  return missing(first);
}

function missing(permission: string): ToolFailure {
  const hint = isOfPlatform(permission)
    ? ' It concerns every tenant, and the role admin of a tenant does not hold it: use a key with the role platform_admin.'
    : '';
  return toolFailure('PERMISSION_MISSING', `This needs the permission ${permission}.${hint}`, {
    details: { permission },
  });
}
