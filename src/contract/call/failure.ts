// A failure by the gateway's own reason for it: the table of reasons says which type that is.
import { REASONS } from './reasons.ts';
import { ToolFailure, type FailureDetails } from './tool-failure.ts';

/** Of the first type that the table names. With another one of its types, or a reason that is not in it: `new ToolFailure`. */
export function toolFailure(
  reason: keyof typeof REASONS,
  message: string,
  extra: Omit<FailureDetails, 'reason'> = {},
): ToolFailure {
  const [type = 'INTERNAL'] = REASONS[reason].types;
  return new ToolFailure(type, message, { ...extra, reason });
}
