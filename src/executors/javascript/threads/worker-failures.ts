// How a call fails when its thread cannot go on, or gives what cannot be passed on.
import { toolFailure } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { boundOf, type TooMuch } from '../../../lib/json/json-bounds.ts';

const QUEUE_FULL_RETRY_MS = 500;
const MIB = 1024 * 1024;

export function workerEnded(how: string, cause?: unknown): ToolFailure {
  return toolFailure('WORKER_DIED', `The worker thread ended ${how}.`, { cause });
}

export function outOfMemory(limitBytes: number): ToolFailure {
  const message = `The tool used more memory than a worker thread may have (${limitBytes / MIB} MiB).`;
  return toolFailure('OUT_OF_MEMORY', message, { origin: 'tool' });
}

export function protocolViolation(cause?: unknown): ToolFailure {
  const message = 'The worker thread broke the protocol between it and the gateway.';
  return toolFailure('WORKER_PROTOCOL_VIOLATION', message, { cause });
}

export function startTimeout(limitMs: number): ToolFailure {
  return notStarted(`A worker thread did not start within ${limitMs} ms.`);
}

export function notStarted(
  message: string,
  extra: { retryAfterMs?: number; cause?: unknown } = {},
): ToolFailure {
  const reason = 'WORKER_START_FAILED';
  return new ToolFailure('UNAVAILABLE', message, { reason, partialSideEffects: false, ...extra });
}

export function queueFull(): ToolFailure {
  return toolFailure('QUEUE_FULL', 'Too many calls are waiting for a worker thread.', {
    retryAfterMs: QUEUE_FULL_RETRY_MS,
    partialSideEffects: false,
  });
}

export function executorClosed(): ToolFailure {
  return toolFailure('EXECUTOR_CLOSED', 'The JavaScript executor is closed.', { partialSideEffects: false });
}

export function argumentsTooLarge(limit: number): ToolFailure {
  const message = `The arguments are larger than the limit of ${limit} characters of JSON text.`;
  return new ToolFailure('PAYLOAD_TOO_LARGE', message, { partialSideEffects: false });
}

/** What a worker says of a result that it did not send. */
export function unusable(why: string): ToolFailure {
  if (why === 'TOO_LARGE')
    return new ToolFailure('OUTPUT_TOO_LARGE', "The tool's result is larger than the gateway accepts.");
  if (why === 'NOT_JSON') {
    return new ToolFailure('OUTPUT_INVALID', "The tool's result cannot be written as JSON.", { reason: why });
  }
  return toolFailure('HANDLER_NOT_LOADED', 'The handler could not be loaded in a new worker thread.', {
    partialSideEffects: false,
    cause: why,
  });
}

export function tooMany(tooMuch: Exclude<TooMuch, 'levels'>): ToolFailure {
  return toolFailure('TOO_MANY_VALUES', `The tool's result ${boundOf(tooMuch)}.`);
}

export function tooLong(): ToolFailure {
  return toolFailure('TOO_LONG', "The tool's result holds a name that is too long to be read.");
}

export function tooDeep(): ToolFailure {
  const message = "The tool's result is nested deeper than the gateway accepts.";
  return new ToolFailure('OUTPUT_INVALID', message, { reason: 'TOO_DEEP' });
}
