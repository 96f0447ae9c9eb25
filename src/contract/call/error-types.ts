// The closed list of error types and the one table that maps each to HTTP, gRPC and MCP.

export type ErrorOrigin = 'caller' | 'gateway' | 'tool';

/** How an MCP client sees the error: a tool result with isError, a JSON-RPC code, an HTTP status, or nothing. */
export type McpFace = 'isError' | 'input_required' | 'none' | -32602 | -32603 | 401;

export interface ErrorTypeRow {
  readonly origin: ErrorOrigin;
  readonly http: number;
  /** google.rpc.Code */
  readonly grpc: number;
  readonly mcp: McpFace;
  /** Whether the same call may succeed later, unless the failure itself says otherwise. */
  readonly retryable: boolean;
}

const OK = 0, CANCELLED = 1, UNKNOWN = 2, INVALID_ARGUMENT = 3, DEADLINE_EXCEEDED = 4, NOT_FOUND = 5,
  PERMISSION_DENIED = 7, RESOURCE_EXHAUSTED = 8, FAILED_PRECONDITION = 9, ABORTED = 10, INTERNAL = 13,
  UNAVAILABLE = 14, UNAUTHENTICATED = 16; // oxfmt-ignore

export const ERROR_TYPES = {
  VALIDATION: row('caller', 400, INVALID_ARGUMENT, 'isError', false),
  PAYLOAD_TOO_LARGE: row('caller', 413, RESOURCE_EXHAUSTED, 'isError', false),
  AUTH: row('caller', 401, UNAUTHENTICATED, 401, false),
  PERMISSION_DENIED: row('caller', 403, PERMISSION_DENIED, 'isError', false),
  NOT_FOUND: row('caller', 404, NOT_FOUND, -32602, false),
  MODE_RESTRICTED: row('caller', 403, FAILED_PRECONDITION, 'isError', false),
  SESSION_INACTIVE: row('caller', 409, FAILED_PRECONDITION, 'isError', false),
  BUDGET_EXCEEDED: row('caller', 429, RESOURCE_EXHAUSTED, 'isError', false),
  RATE_LIMIT: row('gateway', 429, RESOURCE_EXHAUSTED, 'isError', true),
  CONCURRENCY_LIMIT: row('gateway', 429, RESOURCE_EXHAUSTED, 'isError', true),
  CONFIRMATION_REQUIRED: row('gateway', 202, OK, 'input_required', false),
  CONFLICT: row('caller', 409, ABORTED, 'isError', false),
  TIMEOUT: row('gateway', 504, DEADLINE_EXCEEDED, 'isError', false),
  CANCELLED: row('caller', 499, CANCELLED, 'none', false),
  UNAVAILABLE: row('gateway', 503, UNAVAILABLE, 'isError', true),
  OUTCOME_UNKNOWN: row('gateway', 409, UNKNOWN, 'isError', false),
  OUTPUT_INVALID: row('tool', 502, INTERNAL, 'isError', false),
  OUTPUT_TOO_LARGE: row('tool', 502, RESOURCE_EXHAUSTED, 'isError', false),
  TRANSIENT: row('tool', 200, OK, 'isError', true),
  PERMANENT: row('tool', 200, OK, 'isError', false),
  INTERNAL: row('gateway', 500, INTERNAL, -32603, false),
} as const satisfies Record<string, ErrorTypeRow>;

export type ErrorType = keyof typeof ERROR_TYPES;

export function isErrorType(word: unknown): word is ErrorType {
  return typeof word === 'string' && Object.hasOwn(ERROR_TYPES, word);
}

function row(
  origin: ErrorOrigin,
  http: number,
  grpc: number,
  mcp: McpFace,
  retryable: boolean,
): ErrorTypeRow {
  return { origin, http, grpc, mcp, retryable };
}
