// What goes wrong between us and an upstream, as ToolFailures.
import { errors } from 'undici';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { codeOf } from '../../lib/error-code.ts';

/** No honest text shrinks so far. */
export function overCompressed(ratio: number, status: number): ToolFailure {
  return toolFailure(
    'COMPRESSION_RATIO',
    `The upstream's answer unpacks to more than ${ratio} times its size.`,
    { details: { status } },
  );
}

/** `status` in the details: a caller may care more for a 500 than for the size of its error page. */
export function tooLarge(maxBytes: number, status: number): ToolFailure {
  return new ToolFailure(
    'OUTPUT_TOO_LARGE',
    `The upstream's answer is larger than the limit of ${maxBytes} bytes.`,
    {
      details: { status, max_bytes: maxBytes },
    },
  );
}

/** The operator's policy refuses the target: no use in trying again. Which address it was is for the log alone. */
export function egressDenied(why: string): ToolFailure {
  return toolFailure('EGRESS_DENIED', 'The egress policy does not let this tool reach its upstream.', {
    origin: 'gateway',
    partialSideEffects: false,
    cause: new Error(`${why}. See allow_hosts, allow_ports and allow_private.`),
  });
}

/** What undici's error means; `sent`: the request may have reached the upstream. */
export function failureOf(error: Error, sent: boolean): unknown {
  if (error instanceof ToolFailure) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_INVALID_ARG') return error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new ToolFailure('OUTPUT_TOO_LARGE', 'The upstream answered with headers of more than 16 KiB.', {
      reason: 'HEADERS_TOO_LARGE',
      cause: error,
    });
  }
  // A parser error without data is the end of the stream in the middle of the head: a lost connection.
  if (error instanceof errors.HTTPParserError && 'data' in error && error.data !== '') {
    return toolFailure('MALFORMED_RESPONSE', 'The upstream answered with something that is not HTTP.', {
      // Without the bytes themselves, which may hold anything.
      cause: new Error(error.message),
    });
  }
  if (sent) {
    return toolFailure('CONNECTION_LOST', 'The connection to the upstream was lost before it had answered.', {
      cause: error,
    });
  }
  return connectFailed(error);
}

/** Nothing was sent. A refusal of the policy stays what it is. */
export function connectFailed(error: Error): ToolFailure {
  if (error instanceof ToolFailure) return error;
  return toolFailure('CONNECT_FAILED', 'No connection to the upstream could be made.', {
    partialSideEffects: false,
    cause: error,
  });
}
