// A call that asks for another version of its tool than the one in force.
import { holds } from '../../contract/call/principal.ts';
import { toolFailure, toolPermissionsMissing } from '../../contract/call/failure.ts';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { isAssigned, type AssignedTo } from '../../contract/call/version-source.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { BorrowedVersion, ToolVersions } from '../../ports/registry/tool-versions.ts';
import { raceCall } from '../deadline.ts';

/** What a call is held to: as its context says, which whoever runs the session may have set. */
export function pinOf({ context }: ToolCall, { spec }: ToolFunction): string | undefined {
  const { toolVersion: pin } = context;
  return pin === spec.contentHash || pin === spec.metadata.version ? undefined : pin;
}

/**
 * Only for who may call the version in force: nobody else learns what versions there are, or has one built. Rejects as
 * soon as the call is aborted; what comes too late is given back.
 */
export function takePinned(
  call: ToolCall,
  fn: ToolFunction,
  pin: string,
  versions: ToolVersions | undefined,
): Promise<BorrowedVersion> {
  const missing = fn.spec.metadata.permissions.filter(
    (each) => call.principal === undefined || !holds(call.principal, each),
  );
  if (missing.length > 0) return Promise.reject(toolPermissionsMissing(missing));
  const { versionSource } = call.progress;
  const told = (error: unknown) =>
    isAssigned(versionSource) ? assignedGone(error, versionSource, pin) : error;
  if (versions === undefined || fn.spec.foreign !== undefined) return Promise.reject(told(versionGone()));
  const taking = versions.take(fn, pin);
  taking.then(
    (taken) => call.signal.aborted && taken.release(),
    () => undefined,
  );
  return raceCall(call, taking).catch((error: unknown) => {
    throw told(error);
  });
}

/** Who calls did not ask for it: an operator has to know what to do. */
function assignedGone(error: unknown, to: AssignedTo, contentHash: string): unknown {
  if (!(error instanceof ToolFailure && isReason(error, 'VERSION_GONE'))) return error;
  const message = `The version of this tool that is assigned to the ${to} cannot be called: ${error.message} Another one has to be assigned, or none.`;
  return toolFailure('VERSION_GONE', message, { details: { assigned_to: to, content_hash: contentHash } });
}

function versionGone(): ToolFailure {
  const message = 'Only the version in force of this tool can be called: somebody else defines it.';
  return toolFailure('VERSION_GONE', message);
}
