// A request as it comes in over HTTP: what it says beside its message, and what kind of message it is.
import {
  classifyInboundRequest,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type RequestId,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import { isJsonObject } from '../../../contract/json.ts';
import { LEGACY_VERSIONS, MODERN_VERSION } from './era-server.ts';
import type { Era } from './exchange.ts';
import { INVALID_REQUEST } from './read-message.ts';
import { HEADER_MISMATCH, headerMissing } from '../headers/standard-headers.ts';

/** What the protocol itself has against a message. */
export interface Rejection {
  readonly kind: 'rejected';
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export type Incoming =
  | { readonly kind: 'request'; readonly era: Era; readonly message: JSONRPCRequest }
  | { readonly kind: 'notification'; readonly era: Era; readonly message: JSONRPCNotification }
  /** What the client answers to a request of ours. */
  | { readonly kind: 'response'; readonly message: unknown }
  | Rejection;

export function incoming({ headers }: Pick<FastifyRequest, 'headers'>, body: unknown): Incoming {
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    protocolVersionHeader: textOf(headers['mcp-protocol-version']),
    mcpMethodHeader: textOf(headers['mcp-method']),
    mcpNameHeader: textOf(headers['mcp-name']),
    body,
  });
  if (outcome.kind === 'reject') {
    const { httpStatus: status, code, message, data } = outcome;
    return { kind: 'rejected', status, code, message, data };
  }
  if (outcome.kind === 'legacy') return legacy(outcome.reason, textOf(headers['mcp-protocol-version']), body);
  const { revision } = outcome.classification;
  if (revision !== MODERN_VERSION) return unsupported([MODERN_VERSION], revision);
  if (outcome.messageKind === 'notification')
    return { kind: 'notification', era: 'modern', message: outcome.message };
  const fault = headerMissing(outcome.message, headers);
  if (fault !== undefined) return { kind: 'rejected', status: 400, code: HEADER_MISMATCH, message: fault };
  return { kind: 'request', era: 'modern', message: outcome.message };
}

function legacy(reason: string, version: string | undefined, body: unknown): Incoming {
  if (reason === 'batch') return bad('A body holds one message: batches are not taken.');
  if (version !== undefined && !LEGACY_VERSIONS.includes(version))
    return unsupported([MODERN_VERSION, ...LEGACY_VERSIONS], version);
  if (reason === 'response') return { kind: 'response', message: body };
  if (reason === 'notification')
    return { kind: 'notification', era: 'legacy', message: body as JSONRPCNotification };
  return { kind: 'request', era: 'legacy', message: body as JSONRPCRequest };
}

function bad(message: string): Rejection {
  return { kind: 'rejected', status: 400, code: INVALID_REQUEST, message };
}

/** A client that speaks by envelopes is told those that it can name there. */
function unsupported(supported: string[], requested = 'unknown'): Rejection {
  const { code, message, data } = new UnsupportedProtocolVersionError({ supported, requested });
  return { kind: 'rejected', status: 400, code, message, data };
}

/** Null: it has none, or none that can be said back. */
export function idOf(body: unknown): RequestId | null {
  const id = isJsonObject(body) ? body['id'] : undefined;
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as RequestId) : null;
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}
