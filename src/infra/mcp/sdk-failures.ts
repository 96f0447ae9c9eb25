// What the SDK throws, as ToolFailures: JSON-RPC errors, HTTP statuses, lost connections. Whatever the server says is scrubbed before
// it is cut.
import { statusReason } from '../../contract/call/reasons/status-reason.ts';
import type { ErrorType } from '../../contract/call/error-types.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import { describeUpstream } from '../../lib/upstream-error/describe-upstream.ts';
import type { AskedInput } from './answers/calls-under-way.ts';
import { readAllAsked } from './answers/read-asked.ts';
import { connectFailed, connectionLost, inputRequired, invalidAnswer } from './failures.ts';
import { refusalIn } from './transport/message-guard.ts';

const MAX_MESSAGE_CHARS = 2_000;
const MAX_CAUSES = 5;

const TYPE_OF_STATUS: { readonly [status: number]: ErrorType } = {
  401: 'AUTH',
  403: 'PERMISSION_DENIED',
  408: 'TRANSIENT',
  425: 'TRANSIENT',
  429: 'RATE_LIMIT',
};

/** The request was refused before anything was done with it. */
const NOTHING_DONE: ReadonlySet<number> = new Set([
  -32_700, -32_600, -32_601, -32_602, -32_020, -32_021, -32_022,
]);
const INPUT_NEEDED: ReadonlySet<number> = new Set([-32_021, -32_042]);

interface SdkShape {
  readonly code: unknown;
  readonly data: unknown;
  readonly status: unknown;
}

/** `connecting`: nothing can have been done for a call yet. */
export function failureOf(error: unknown, connecting: boolean, scrubber: SecretScrubber): ToolFailure {
  const own = ownFailureIn(error);
  if (own !== undefined) return own;
  const { code, status } = shapeOf(error);
  const brief = () => briefly(error, scrubber);
  if (typeof code === 'number')
    return connecting ? connectFailed(brief()) : rpcFailure(code, error, scrubber);
  if (typeof status === 'number') return statusFailure(status, error, scrubber);
  switch (code) {
    case 'INVALID_RESULT':
      return invalidAnswer('its answer does not have the form of one', brief());
    case 'UNSUPPORTED_RESULT_TYPE':
    case 'INPUT_REQUIRED_ROUNDS_EXCEEDED':
      return inputRequired([], brief());
    case 'CLIENT_HTTP_UNEXPECTED_CONTENT':
      return invalidAnswer('its answer is neither JSON nor an event stream', brief());
    default:
      return connecting ? connectFailed(brief()) : connectionLost(brief());
  }
}

/**
 * Whether the server has forgotten the session: it says so by 404, and did not even look at the request. Others answer 400, or
 * an error of the protocol in words of their own: those have to be asked again.
 */
export function sessionSign(error: unknown): 'gone' | 'perhaps' | undefined {
  if (ownFailureIn(error) !== undefined) return undefined;
  const { status, code } = shapeOf(error);
  if (status === 404) return 'gone';
  if (status === 400) return 'perhaps';
  const isSaid = error instanceof Error && /session/i.test(error.message);
  return typeof code === 'number' && isSaid ? 'perhaps' : undefined;
}

/** A ToolFailure, wherever the SDK has put it. */
function ownFailureIn(error: unknown): ToolFailure | undefined {
  let each = error;
  for (let depth = 0; depth < MAX_CAUSES && each instanceof Error; depth += 1) {
    if (each instanceof ToolFailure) return each;
    const { code, data } = shapeOf(each);
    const inside = refusalIn(code, data) ?? causeIn(data);
    if (inside instanceof ToolFailure) return inside;
    each = each.cause ?? inside;
  }
  return undefined;
}

function causeIn(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'cause' in data ? data.cause : undefined;
}

function rpcFailure(code: number, error: unknown, scrubber: SecretScrubber): ToolFailure {
  if (INPUT_NEEDED.has(code)) return inputRequired(askedIn(error, scrubber), briefly(error, scrubber));
  const said = error instanceof Error ? error.message.replace(/^MCP error -?\d+: /, '') : '';
  const text = scrubber.cut(said, MAX_MESSAGE_CHARS);
  const details = { code };
  if (code === -32_603 || (code <= -32_000 && code > -32_020)) {
    const message = `The MCP server reports an error: ${text}`;
    return toolFailure('RPC_ERROR', message, { origin: 'tool', details });
  }
  return new ToolFailure('PERMANENT', `The MCP server refused the call: ${text}`, {
    origin: 'tool',
    reason: 'RPC_ERROR',
    details,
    ...(NOTHING_DONE.has(code) && { partialSideEffects: false }),
  });
}

/** A server that sends a human to a page says so in its error. */
function askedIn(error: unknown, scrubber: SecretScrubber): readonly AskedInput[] {
  const { data } = shapeOf(error);
  return typeof data === 'object' && data !== null && 'elicitations' in data
    ? readAllAsked(data.elicitations, scrubber)
    : [];
}

function statusFailure(status: number, error: unknown, scrubber: SecretScrubber): ToolFailure {
  const cause = briefly(error, scrubber);
  // Within its origin it would have been followed.
  if (status >= 300 && status < 400)
    return toolFailure(
      'REDIRECT_REFUSED',
      `The MCP server answered with a redirect (HTTP ${status}) to another place; that is not followed.`,
      { details: { status }, partialSideEffects: false, cause },
    );
  const type = TYPE_OF_STATUS[status] ?? (status >= 500 ? 'TRANSIENT' : 'PERMANENT');
  const said = describeUpstream({ headers: {}, body: bodyOf(error) }, scrubber);
  const words = said?.message === undefined ? '.' : `: ${said.message}`;
  return new ToolFailure(type, `The MCP server answered HTTP ${status}${words}`, {
    origin: 'tool',
    reason: statusReason(status),
    details: { status, ...(said !== undefined && { upstream: said.details }) },
    ...(status >= 400 && status < 500 && status !== 408 && { partialSideEffects: false }),
    cause,
  });
}

/** The SDK keeps it as text, whatever it was. */
function bodyOf(error: unknown): Buffer {
  const { data } = shapeOf(error);
  const text = typeof data === 'object' && data !== null && 'text' in data ? data.text : undefined;
  return Buffer.from(typeof text === 'string' ? text : '');
}

function shapeOf(error: unknown): SdkShape {
  if (!(error instanceof Error)) return { code: undefined, data: undefined, status: undefined };
  return {
    code: 'code' in error ? error.code : undefined,
    data: 'data' in error ? error.data : undefined,
    status: 'status' in error ? error.status : undefined,
  };
}

/** For the log: what the SDK throws may hold a whole answer. */
function briefly(error: unknown, scrubber: SecretScrubber): unknown {
  return error instanceof Error
    ? new Error(scrubber.cut(`${error.name}: ${error.message}`, MAX_MESSAGE_CHARS))
    : error;
}
