// Which failures are the gateway's own fault: what the service level objective counts. Faults of callers, of tools and of
// what tools call are not among them, and neither are limits that an operator has set.
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import type { ErrorType } from '../../contract/call/error-types.ts';
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import type { ToolError } from '../../contract/call/tool-response.ts';

/** Inside UNAVAILABLE. What else makes a call unavailable lies behind the gateway. */
const OWN_REASONS: readonly Reason[] = [
  'ACCEPTANCE_UNKNOWN',
  'AUDIT_UNAVAILABLE',
  'DISK_FULL',
  'DRAINING',
  'EXECUTOR_CLOSED',
  'LEASE_LOST',
  'LIMITS_UNAVAILABLE',
  'NO_PROCESS',
  'OVERLOADED',
  'PINS_UNAVAILABLE',
  'QUEUE_FULL',
  'SANDBOX_FAILED',
  'SANDBOX_UNAVAILABLE',
  'SESSIONS_BUSY',
  'SPAWN_FAILED',
  'VALIDATION_BUSY',
  'VERSIONS_BUSY',
  'WORKER_START_FAILED',
  'WORKSPACE_NOT_KEPT',
  'WORKSPACE_NOT_RESTORED',
];

/** Those that there can be, as type and reason: counted from 0 on, so that the first of them is growth already. */
export const GATEWAY_FAULTS: readonly (readonly [ErrorType, string])[] = [
  ['INTERNAL', 'INTERNAL'],
  ['INTERNAL', 'EXTENSION_FAILED'],
  ['INTERNAL', 'WORKER_PROTOCOL_VIOLATION'],
  ['OUTCOME_UNKNOWN', 'OWNER_LOST'],
  ['UNAVAILABLE', 'DATABASE_UNAVAILABLE'],
  ...OWN_REASONS.map((reason): [ErrorType, string] => ['UNAVAILABLE', reason]),
];

/** `executorEntered`: from then on a database that is away is the tool's, and not the gateway's. */
export function isGatewayFault(error: ToolError, executorEntered: boolean): boolean {
  if (error.origin !== 'gateway') return false;
  if (error.type === 'INTERNAL' || error.type === 'OUTCOME_UNKNOWN') return true;
  if (error.type !== 'UNAVAILABLE') return false;
  return isReason(error, ...OWN_REASONS) || (isReason(error, 'DATABASE_UNAVAILABLE') && !executorEntered);
}
