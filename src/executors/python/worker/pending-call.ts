// PendingCall: one request that a worker has not answered yet.
import type { CallEvent } from '../../../contract/call/tool-call.ts';
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import { ProtocolViolation, readJson, type Answer } from './answer.ts';
import { outputTooLarge } from './ended-call.ts';
import { CallOutput, type LineListener, type LogLevel } from './worker-output.ts';

/** What a request is told about while it runs. */
export interface CallListener {
  readonly onLine: LineListener;
  /** What was printed as it came; of forked calls only, and no more than is logged. */
  readonly onOutput?: (level: LogLevel, chunk: Buffer) => void;
  readonly onEvent?: (event: CallEvent) => void;
}

interface Outcome {
  resolve(answer: Answer): void;
  reject(error: unknown): void;
  /** Called once, before either. */
  settled(): void;
}

/** A tool that reports more often than this is no longer telling anybody anything. */
const MAX_PROGRESS = 10_000;

export class PendingCall {
  readonly id: string;
  readonly output: CallOutput;
  readonly #listener: CallListener;
  readonly #outcome: Outcome;
  #maxPartialBytes: number;
  #progressLeft = MAX_PROGRESS;
  #settled = false;
  /** An answer has come, and is about to be passed on. */
  answered = false;
  /** Stands when the caller has gone and the worker has not yet confirmed that the call is over. */
  disarm: (() => void) | undefined;

  constructor(id: string, listener: CallListener, maxPartialBytes: number, outcome: Outcome) {
    this.id = id;
    this.#listener = listener;
    this.#maxPartialBytes = maxPartialBytes;
    this.output = new CallOutput(listener.onLine);
    this.#outcome = outcome;
  }

  get settled(): boolean {
    return this.#settled;
  }

  resolve(answer: Answer): void {
    this.#settle();
    this.#outcome.resolve(answer);
  }

  reject(error: unknown): void {
    this.#settle();
    this.#outcome.reject(error);
  }

  printed(level: LogLevel, chunk: Buffer): void {
    this.output.push(level, chunk);
    if (!this.#settled) this.#listener.onOutput?.(level, chunk);
  }

  /** Throws ProtocolViolation, or ToolFailure when there is too much of it. */
  partial(content: Buffer): void {
    this.#maxPartialBytes -= content.length;
    if (this.#maxPartialBytes < 0) throw outputTooLarge();
    this.#emitOne({ kind: 'partial', data: readJson(content) });
  }

  /** Throws ProtocolViolation. */
  progress(content: Buffer): void {
    this.#progressLeft -= 1;
    if (this.#progressLeft < 0) throw new ProtocolViolation('progress was reported without end');
    this.#emitOne(progressEvent(readJson(content)));
  }

  #emitOne(event: CallEvent): void {
    if (!this.#settled) this.#listener.onEvent?.(event);
  }

  #settle(): void {
    if (this.#settled) return;
    this.output.flush();
    this.#settled = true;
    this.#outcome.settled();
  }
}

function progressEvent(said: JsonValue): CallEvent {
  const { fraction, message, ...others } = isJsonObject(said) ? said : { unknown: said };
  const right =
    Object.keys(others).length === 0 &&
    (fraction === undefined || typeof fraction === 'number') &&
    (message === undefined || typeof message === 'string');
  if (!right) throw new ProtocolViolation('the progress has fields of the wrong type');
  return {
    kind: 'progress',
    ...(fraction !== undefined && { fraction }),
    ...(message !== undefined && { message }),
  };
}
