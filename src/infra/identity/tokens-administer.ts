// Whether somebody with a token can make keys for others: then no first key is needed.
import { holds } from '../../contract/call/principal.ts';
import type { IssuerSettings } from '../../settings/auth-settings.ts';
import { permissionsOfRoles, type Roles } from '../keys/known-key.ts';

export function tokensAdminister(issuers: readonly IssuerSettings[], declared: Roles): boolean {
  const roles = issuers.flatMap(({ roles: mapped, default_roles: always }) => [
    ...always,
    ...Object.values(mapped).flat(),
  ]);
  return holds({ permissions: new Set(permissionsOfRoles(roles, declared)) }, 'keys:manage');
}
