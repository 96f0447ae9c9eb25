// Why the audit journal takes no records, for an operator and for callers.
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { isDiskFull } from '../../lib/files/disk-full.ts';

/** For an operator. `failure`: of the last write; undefined: it was none, so there is too much that is not in the database yet. */
export function refusalOf(failure: unknown): string {
  if (isDiskFull(failure)) return 'the audit journal takes no records: its disk is full';
  if (failure === undefined)
    return 'the audit journal takes no records: what the database has not taken has reached limits.max_audit_backlog_bytes';
  const { code } = Object(failure) as { readonly code?: unknown };
  return `the audit journal takes no records: its disk fails${typeof code === 'string' ? ` (${code})` : ''}`;
}

export function unavailable(cause: unknown): ToolFailure {
  const message = isDiskFull(cause)
    ? 'The audit log cannot be written: its disk is full.'
    : 'The audit log cannot be written at the moment.';
  return toolFailure('AUDIT_UNAVAILABLE', message, { cause });
}

const putOffs = new WeakSet<ToolFailure>();

/** As `unavailable`, for those whose records are in a group that is written again until it succeeds. */
export function putOff(cause: unknown): ToolFailure {
  const failure = unavailable(cause);
  putOffs.add(failure);
  return failure;
}

export function isPutOff(error: unknown): boolean {
  return error instanceof ToolFailure && putOffs.has(error);
}
