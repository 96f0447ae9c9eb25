// StreamLine: one connection of a stream, whatever it is made of: a WebSocket, or a call of gRPC.
import { ConnectionError, GatewayError } from '../errors/gateway-error.ts';
import type { ClientMessage, ServerMessage } from './messages.ts';

export interface LineEvents {
  message(message: ServerMessage): void;
  /** Once, and nothing after it. `undefined`: the gateway has ended the stream. */
  closed(why: Error | undefined): void;
}

export interface StreamLine {
  send(message: ClientMessage): void;
  /** Ends the stream at once: the client is through. */
  end(): void;
  /** Lets the connection go, and not the stream. */
  drop(): void;
}

/** What is shown, and for which tenant. */
export interface Speaker {
  readonly credential: string | undefined;
  readonly tenant: string | undefined;
}

/** Resolves to a line that is open. Rejects with ConnectionError, GatewayError, or the reason of the signal. */
export type OpenLine = (speaker: Speaker, events: LineEvents, signal: AbortSignal) => Promise<StreamLine>;

/** Whether another connection may go on with the stream. */
export function mayGoOn(why: Error): boolean {
  if (why instanceof ConnectionError) return true;
  return why instanceof GatewayError && (why.retryable || why.reason === 'READER_TOO_SLOW');
}
