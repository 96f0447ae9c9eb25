// Who calls a method of the management side, and what it must hold for it.
import type { Metadata } from '@grpc/grpc-js';
import { permissionMissing } from '../../../contract/call/failure.ts';
import { holds } from '../../../contract/call/principal.ts';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import { checkMetadataSize, credentialOf, tenantOf, type Connection } from '../execute/call-metadata.ts';
import { UNREADABLE, type ByIdMessage, type Readable } from '../wire-types.ts';
import type { Act, ManagementActs } from '../../rest/management/acts.ts';
import { admittedFor, type Admitted } from '../../rest/management/admitted.ts';

/** One of the permissions; none: any credential will do, and the method asks for the rest. Rejects with ToolFailure. */
export async function admittedBy(
  authenticator: Authenticator,
  metadata: Metadata,
  connection: Connection,
  ...permissions: readonly string[]
): Promise<Admitted> {
  checkMetadataSize(metadata);
  const credential = credentialOf(metadata, connection);
  const principal = await authenticator.authenticate(credential, tenantOf(metadata));
  const [first] = permissions;
  if (first === undefined || permissions.some((each) => holds(principal, each)))
    return admittedFor(principal);
  const { type, message, reason, details } = permissionMissing(first);
  throw new ToolFailure(type, message, { reason, details, by: principal });
}

/** What an act is about, before anybody is told whether the message can be read. */
export function targetIn(message: Readable<ByIdMessage>): string {
  return message === UNREADABLE ? '' : message.id;
}

/** The same for what changes something: who is refused with a good credential is on record, as over REST. */
export async function admittedTo(
  act: Act,
  acts: ManagementActs,
  ...[authenticator, metadata, connection, ...permissions]: Parameters<typeof admittedBy>
): Promise<Admitted> {
  try {
    return await admittedBy(authenticator, metadata, connection, ...permissions);
  } catch (error) {
    // Whoever still has a key that has expired could go on for ever.
    if (error instanceof ToolFailure && error.by !== undefined && !isReason(error, 'CREDENTIAL_EXPIRED'))
      await acts.refused(admittedFor(error.by), act, error);
    throw error;
  }
}
