// What a request is refused with before it is a message that the SDK answers: a status of HTTP, and an error of JSON-RPC.
import { errorRow } from '../../../contract/call/error-row.ts';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import type { ToolError } from '../../../contract/call/tool-response.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { INTERNAL_ERROR, INVALID_REQUEST } from './read-message.ts';

export interface RpcFault {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  readonly retryAfterMs?: number | undefined;
}

export const UNKNOWN_SESSION: RpcFault = {
  status: 404,
  code: INVALID_REQUEST,
  message: 'This Mcp-Session-Id is none of this gateway: initialize anew.',
};
export const TOO_MANY_STREAMS: RpcFault = {
  status: 503,
  code: INTERNAL_ERROR,
  message: 'Too many streams are open here, or the gateway is shutting down: come back later.',
};
export const NO_EVENTS: RpcFault = {
  status: 406,
  code: INVALID_REQUEST,
  message: 'The header Accept must name text/event-stream.',
};

export function faultOf({ type, reason, message, details, retryAfterMs }: ToolFailure): RpcFault {
  const { http: status } = errorRow(type, 'gateway', reason);
  return { status, code: INVALID_REQUEST, message, data: { type, reason, message, details }, retryAfterMs };
}

/** Of an error of somebody whom nobody knows: the status that says so. Undefined: it is another one. */
export function strangerStatus(error: Pick<ToolError, 'type' | 'origin' | 'reason'>): 401 | 429 | undefined {
  const { type, origin, reason } = error;
  if (origin === 'gateway' && isReason(error, 'TOO_MANY_WRONG_CREDENTIALS')) return 429;
  return errorRow(type, origin, reason).mcp === 401 ? 401 : undefined;
}

/** As the header Retry-After has it. */
export function retryAfterSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)));
}
