// HeldStream: a stream that this replica holds: on a line, or waiting for its client to come again.
import type { StreamMessage } from './messages/server-messages.ts';
import type { Line } from './line.ts';
import type { Numbered } from './conversation/outbox.ts';
import type { Speaker } from './conversation/stream-state.ts';
import type { ToolStream } from './conversation/tool-stream.ts';

/** Who is connected: a line, and whether what it shows is good still. */
export interface Connected {
  readonly line: Line;
  readonly speaker: Speaker;
  /** Rejects with ToolFailure, or throws it. */
  readonly stillAllowed: () => unknown;
}

export class HeldStream {
  readonly stream: ToolStream;
  /** Gives back the places that it has among the streams of its tenant and its credential. */
  readonly leave: () => void;
  readonly since: number;
  #connected: Connected | undefined;
  /** Of its time without a connection. */
  #disarm: (() => void) | undefined;

  constructor(stream: ToolStream, leave: () => void, since: number) {
    this.stream = stream;
    this.leave = leave;
    this.since = since;
  }

  get connected(): Connected | undefined {
    return this.#connected;
  }

  /** Sends what came after `seq`. */
  connect(by: Connected, seq: number): void {
    this.#disarm?.();
    this.#disarm = undefined;
    this.#connected = by;
    const reader = {
      send: ({ message, seq: number }: Numbered<StreamMessage>) => by.line.send(message, number),
    };
    this.stream.attach(reader, by.speaker, seq);
  }

  /** `disarm`: of what comes when nobody connects again. */
  disconnect(disarm: () => void): void {
    this.#connected = undefined;
    this.#disarm?.();
    this.#disarm = disarm;
    this.stream.detach();
  }

  end(): void {
    this.#connected = undefined;
    this.#disarm?.();
    this.stream.detach();
    this.leave();
  }
}
