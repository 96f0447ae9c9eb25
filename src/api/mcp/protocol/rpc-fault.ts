// What a request is refused with before it is a message that the SDK answers: a status of HTTP, and an error of JSON-RPC.
import { errorRow } from '../../../contract/call/error-row.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { INTERNAL_ERROR, INVALID_REQUEST } from './read-message.ts';

export interface RpcFault {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
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

export function faultOf({ type, reason, message, details }: ToolFailure): RpcFault {
  const { http: status } = errorRow(type, 'gateway', reason);
  return { status, code: INVALID_REQUEST, message, data: { type, reason, message, details } };
}
