// How a call fails when its thread cannot go on, or gives what cannot be passed on.
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { boundOf, type TooMuch } from '../../../lib/json/json-bounds.ts';

const QUEUE_FULL_RETRY_MS = 500;
const MIB = 1024 * 1024;

export function workerEnded(how: string, cause?: unknown): ToolFailure {
  return new ToolFailure('UNAVAILABLE', `The worker thread ended ${how}.`, { reason: 'WORKER_DIED', cause });
}

export function outOfMemory(limitBytes: number): ToolFailure {
  const message = `The tool used more memory than a worker thread may have (${limitBytes / MIB} MiB).`;
  return new ToolFailure('PERMANENT', message, { origin: 'tool', reason: 'OUT_OF_MEMORY' });
}

export function protocolViolation(cause?: unknown): ToolFailure {
  const message = 'The worker thread broke the protocol between it and the gateway.';
  return new ToolFailure('INTERNAL', message, { reason: 'WORKER_PROTOCOL_VIOLATION', cause });
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
  return new ToolFailure('UNAVAILABLE', 'Too many calls are waiting for a worker thread.', {
    reason: 'QUEUE_FULL',
    retryAfterMs: QUEUE_FULL_RETRY_MS,
    partialSideEffects: false,
  });
}

export function executorClosed(): ToolFailure {
  const message = 'The JavaScript executor is closed.';
  return new ToolFailure('UNAVAILABLE', message, { reason: 'EXECUTOR_CLOSED', partialSideEffects: false });
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
  return new ToolFailure('UNAVAILABLE', 'The handler could not be loaded in a new worker thread.', {
    reason: 'HANDLER_NOT_LOADED',
    partialSideEffects: false,
    cause: why,
  });
}

export function tooMany(tooMuch: Exclude<TooMuch, 'levels'>): ToolFailure {
  const message = `The tool's result ${boundOf(tooMuch)}.`;
  return new ToolFailure('OUTPUT_TOO_LARGE', message, { reason: 'TOO_MANY_VALUES' });
}

export function tooLong(): ToolFailure {
  const message = "The tool's result holds a name that is too long to be read.";
  return new ToolFailure('OUTPUT_TOO_LARGE', message, { reason: 'TOO_LONG' });
}

export function tooDeep(): ToolFailure {
  const message = "The tool's result is nested deeper than the gateway accepts.";
  return new ToolFailure('OUTPUT_INVALID', message, { reason: 'TOO_DEEP' });
}
