// WebSocketLine: a WebSocket as a line of streams: text frames, closes that say why, and a reader that is not run over.
import type { WebSocket } from 'ws';
import { errorRow } from '../../../contract/call/error-row.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Close, Line } from '../line.ts';
import type { ConnectionMessage, StreamMessage } from '../messages/server-messages.ts';
import { messageJson } from '../messages/write-message.ts';

/** When so much waits in the socket, nothing more is given to it. */
const MOST_BUFFERED = 256 << 10;
/** A reader that takes nothing for so long is gone. */
const STUCK_MS = 30_000;
/** What a client gets to answer the close. */
const CLOSE_MS = 2_000;
const ENDED = 1000;
/** The registry's "service restart". */
const RESTART = 1012;
/** A reason may have 123 bytes. */
const LONGEST_REASON = 120;

export class WebSocketLine implements Line {
  readonly transport = 'websocket';
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #drained: () => void;
  #isFull = false;
  #disarm: () => void = () => undefined;

  /** `drained`: it takes more. */
  constructor(socket: WebSocket, clock: Clock, drained: () => void) {
    this.#socket = socket;
    this.#clock = clock;
    this.#drained = drained;
    socket.once('close', () => this.#disarm());
  }

  send(message: StreamMessage | ConnectionMessage, seq?: number): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false;
    this.#socket.send(messageJson(message, seq), () => this.#look());
    if (!this.#isFull && this.#socket.bufferedAmount > MOST_BUFFERED) {
      this.#isFull = true;
      this.#disarm = this.#clock.after(STUCK_MS, () => this.close(tooSlow()));
    }
    return !this.#isFull;
  }

  close(why: Close): void {
    const { code, reason } = closeOf(why);
    this.#socket.close(code, reason);
    // One that is paused would never read the answer.
    this.resume();
    this.#disarm();
    this.#disarm = this.#clock.after(CLOSE_MS, () => this.#socket.terminate());
  }

  /** Nothing of the client is read, its pongs neither. */
  get isPaused(): boolean {
    return this.#socket.isPaused;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  #look(): void {
    if (!this.#isFull || this.#socket.bufferedAmount > MOST_BUFFERED / 2) return;
    this.#isFull = false;
    this.#disarm();
    this.#drained();
  }
}

/** 4000 and the HTTP status of what ended it. */
export function closeOf(why: Close): { readonly code: number; readonly reason: string } {
  if (why === 'ended') return { code: ENDED, reason: 'ended' };
  if (why === 'draining') return { code: RESTART, reason: 'the gateway stops: resume' };
  const { http } = errorRow(why.type, 'gateway', why.reason);
  return { code: 4000 + http, reason: why.reason.slice(0, LONGEST_REASON) };
}

function tooSlow() {
  return toolFailure('READER_TOO_SLOW', 'Nothing was read for too long.');
}
