// A failure by the gateway's own reason for it: the table of reasons says which type that is.
import { REASONS, type Reason } from './reasons/reasons.ts';
import { ToolFailure, type FailureDetails } from './tool-failure.ts';

/** Of the first type that the table names. With another one of its types, or a reason that is not in it: `new ToolFailure`. */
export function toolFailure(
  reason: Reason,
  message: string,
  extra: Omit<FailureDetails, 'reason'> = {},
): ToolFailure {
  const [type = 'INTERNAL'] = REASONS[reason].types;
  return new ToolFailure(type, message, { ...extra, reason });
}

export function shuttingDown(): ToolFailure {
  return toolFailure('DRAINING', 'The gateway is shutting down.', { retryAfterMs: 1_000 });
}

/** The same for one that there is not and one that the caller may not use. */
export function noSuchToolset(name: string): ToolFailure {
  const message = 'There is no toolset of this name here for this caller.';
  return toolFailure('TOOLSET_NOT_FOUND', message, { details: { toolset: name } });
}

export function permissionMissing(permission: string): ToolFailure {
  return toolFailure('PERMISSION_MISSING', `This needs the permission ${permission}.`, {
    details: { permission },
  });
}

/** Those that the tool itself asks for. */
export function toolPermissionsMissing(permissions: string[]): ToolFailure {
  const message = `This tool needs permissions that the credential does not hold: ${permissions.join(', ')}.`;
  return toolFailure('PERMISSION_MISSING', message, { details: { permissions } });
}
