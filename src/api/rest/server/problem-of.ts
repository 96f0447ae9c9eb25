// A failure as an RFC 9457 problem, for whoever answers without Nest as well.
import { problemStatus } from '../../../contract/call/error-row.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';

/** The answer's status and body. */
export function problemOf(
  failure: ToolFailure,
  instance: string,
): { readonly status: number; readonly json: string } {
  const status = problemStatus(failure.type, failure.reason);
  const json = JSON.stringify({
    type: `urn:unified-tool-executor:error:${failure.type.toLowerCase()}`,
    title: failure.type,
    status,
    detail: failure.message,
    instance,
    code: failure.type,
    reason: failure.reason,
    retryable: failure.retryable,
    ...failure.details,
  });
  return { status, json };
}
