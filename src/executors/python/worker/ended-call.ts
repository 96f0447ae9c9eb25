// EndedCall: why a zygote ended a call's process, as the failure that its caller sees.
import { isJsonObject } from '../../../contract/json.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { ProtocolViolation, readJson } from './answer.ts';

const NO_PROCESS_RETRY_MS = 500;

const FAILURES: { readonly [reason: string]: (detail: string) => ToolFailure } = {
  cancelled: () => new ToolFailure('CANCELLED', 'The call was given up.'),
  timeout: () => new ToolFailure('TIMEOUT', 'The Python tool did not end in time.'),
  died: (detail) => toolFailure('WORKER_DIED', `The Python tool ended: ${detail}.`),
  output_too_large: () => outputTooLarge(),
  protocol_violation: () => protocolViolation(),
  flooded: () => logFlood(),
  no_process: (detail) =>
    toolFailure('NO_PROCESS', 'No process can be had for the Python tool at the moment.', {
      retryAfterMs: NO_PROCESS_RETRY_MS,
      partialSideEffects: false,
      cause: detail,
    }),
};

/** Throws ProtocolViolation. */
export function endedCall(content: Buffer): ToolFailure {
  const said = readJson(content);
  if (isJsonObject(said) && typeof said['reason'] === 'string' && typeof said['detail'] === 'string') {
    const failure = Object.hasOwn(FAILURES, said['reason']) ? FAILURES[said['reason']] : undefined;
    if (failure !== undefined) return failure(said['detail'].slice(0, 200));
  }
  throw new ProtocolViolation('a call ended for no known reason');
}

export function outputTooLarge(cause?: unknown): ToolFailure {
  return new ToolFailure('OUTPUT_TOO_LARGE', 'The result is larger than the gateway accepts.', { cause });
}

export function logFlood(): ToolFailure {
  return toolFailure('LOG_FLOOD', 'The tool printed without end.');
}

export function protocolViolation(cause?: unknown): ToolFailure {
  const message = 'The Python worker broke the protocol between it and the gateway.';
  return toolFailure('WORKER_PROTOCOL_VIOLATION', message, { cause });
}

export function workerDied(when: string): ToolFailure {
  return toolFailure('WORKER_DIED', `The Python worker ended ${when}.`);
}
