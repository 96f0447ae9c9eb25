// What goes wrong between us and an upstream, as ToolFailures.
import { errors } from 'undici';
import { ToolFailure } from '../../contract/tool-failure.ts';

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

/** What undici's error means; `sent`: the request may have reached the upstream. */
export function failureOf(error: Error, sent: boolean): unknown {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'UND_ERR_INVALID_ARG') return error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new ToolFailure('OUTPUT_TOO_LARGE', 'The upstream answered with headers of more than 16 KiB.', {
      reason: 'HEADERS_TOO_LARGE',
      cause: error,
    });
  }
  // A parser error without data is the end of the stream in the middle of the head: a lost connection.
  if (error instanceof errors.HTTPParserError && 'data' in error && error.data !== '') {
    return new ToolFailure('OUTPUT_INVALID', 'The upstream answered with something that is not HTTP.', {
      reason: 'MALFORMED_RESPONSE',
      cause: error,
    });
  }
  if (sent) {
    return new ToolFailure('UNAVAILABLE', 'The connection to the upstream was lost before it had answered.', {
      reason: 'CONNECTION_LOST',
      cause: error,
    });
  }
  return new ToolFailure('UNAVAILABLE', 'No connection to the upstream could be made.', {
    reason: 'CONNECT_FAILED',
    partialSideEffects: false,
    cause: error,
  });
}
