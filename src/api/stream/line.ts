// Line: one connection, as streams see it, whatever it is made of.
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ConnectionMessage, StreamMessage } from './messages/server-messages.ts';

/** `draining`: the client comes again, to another replica. */
export type Close = 'ended' | 'draining' | ToolFailure;

export interface Line {
  readonly transport: 'websocket' | 'grpc';
  /** False: it takes no more for now. It then says to its visit when it does. */
  send(message: StreamMessage | ConnectionMessage, seq?: number): boolean;
  /** After what was sent. */
  close(why: Close): void;
  /** Takes nothing from the client. */
  pause(): void;
  resume(): void;
}
