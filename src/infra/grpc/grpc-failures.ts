// What an error of grpc-js means: what the upstream said, or what grpc-js says in its place.
import { status, type ServiceError } from '@grpc/grpc-js';
import { toolFailure } from '../../contract/call/failure.ts';
import { grpcStatusReason } from '../../contract/call/reasons/status-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { GrpcStatusError } from '../../ports/egress/grpc-upstreams.ts';

const DETAILS = 'grpc-status-details-bin';
const UNREADABLE = /^Failed to decompress (?:gzip|deflate)-encoded message$/;
/** Of a stream, or of a connection, that was reset with ENHANCE_YOUR_CALM. */
const RESET = 'Bandwidth exhausted or memory limit exceeded';

/** Without words, and without a code, where grpc-js does not know the coding of a message. */
type CallError = Omit<ServiceError, 'details'> & { readonly details?: string };

/** `isAnswered`: the headers of an answer had come. `maxBytes`: what the channel takes of one message. */
export function failureOf(error: CallError, isAnswered: boolean, maxBytes: number): Error {
  const { code, details = '', metadata } = error;
  // An answer that is trailers alone has metadata, its content-type at the least; what grpc-js itself says has none.
  const isOwn = Object.keys(metadata.getMap()).length === 0;
  const own = isOwn ? ownFailure(error, isAnswered, maxBytes) : undefined;
  if (own !== undefined) return own;
  const trailer = metadata.get(DETAILS)[0];
  return new GrpcStatusError(
    code,
    details,
    typeof trailer === 'string' ? Buffer.from(trailer, 'base64') : trailer,
  );
}

/**
 * Trailers behind an answer's headers may be without metadata too, and say the same words: such an upstream is believed to
 * have run the method, which is the safe side. None of these says that nothing was done, since the message had been sent.
 */
function ownFailure(
  { code, details, message }: CallError,
  isAnswered: boolean,
  maxBytes: number,
): ToolFailure | undefined {
  if (details === undefined || (code === status.INTERNAL && UNREADABLE.test(details)))
    return toolFailure(
      'UNREADABLE_ENCODING',
      'The answer of the upstream is not in the coding that it names.',
      { cause: new Error(details ?? 'The coding is not known, or not named.') },
    );
  if (code === status.RESOURCE_EXHAUSTED && isTooLarge(details, maxBytes))
    return new ToolFailure(
      'OUTPUT_TOO_LARGE',
      `A message of the upstream is larger than the limit of ${maxBytes} bytes.`,
      { details: { max_bytes: maxBytes } },
    );
  if (code === status.RESOURCE_EXHAUSTED && details === RESET)
    return new ToolFailure('RATE_LIMIT', 'The upstream broke off the call, as one of too many.', {
      origin: 'tool',
      reason: grpcStatusReason('RESOURCE_EXHAUSTED'),
      details: { status: 'RESOURCE_EXHAUSTED' },
      cause: new Error(message),
    });
  if (code === status.UNAVAILABLE && !isAnswered)
    return toolFailure('CONNECTION_LOST', 'The connection to the upstream was lost before it had answered.', {
      cause: new Error(message),
    });
  return undefined;
}

/** With the channel's own limit: an upstream that refuses a request says the same, of a limit of its own. */
function isTooLarge(details: string, maxBytes: number): boolean {
  return (
    (details.startsWith('Received message larger than max (') && details.endsWith(` vs ${maxBytes})`)) ||
    details === `Received message that decompresses to a size larger than ${maxBytes}`
  );
}
