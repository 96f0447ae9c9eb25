// Who calls a method of the management side, and what it must hold for it.
import type { Metadata } from '@grpc/grpc-js';
import { permissionMissing } from '../../../contract/call/failure.ts';
import { holds, type Principal } from '../../../contract/call/principal.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import { checkMetadataSize, credentialOf, tenantOf, type Connection } from '../execute/call-metadata.ts';
import { admittedFor, type Admitted } from '../../rest/management/admitted.ts';

/** One of the permissions; none: any credential will do, and the method asks for the rest. Rejects with ToolFailure. */
export async function admittedBy(
  authenticator: Authenticator,
  metadata: Metadata,
  connection: Connection,
  ...permissions: readonly string[]
): Promise<Admitted> {
  checkMetadataSize(metadata);
  const principal: Principal = await authenticator.authenticate(
    credentialOf(metadata, connection),
    tenantOf(metadata),
  );
  const [first] = permissions;
  if (first !== undefined && !permissions.some((each) => holds(principal, each)))
    throw permissionMissing(first);
  return admittedFor(principal);
}
