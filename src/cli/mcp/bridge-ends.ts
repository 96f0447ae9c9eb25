// What the bridge between a client and a gateway touches at either end, and how messages are written.
import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../../contract/json.ts';
import { isJsonObject } from '../../contract/json.ts';
import type { Timers } from '../../lib/timers/timers.ts';

export type Headers = { readonly [name: string]: string };

export interface BridgeEnds {
  /** To the gateway; `body` undefined: GET. Rejects where it cannot be reached. */
  request(body: string | undefined, headers: Headers, signal: AbortSignal): Promise<IncomingMessage>;
  /** To the client: one message, without its line end. */
  write(message: string): void;
  /** To whoever started the program: one sentence. */
  warn(text: string): void;
  readonly clock: Timers;
  readonly random: () => number;
}

export function isEvents({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true;
}

/** Undefined: the text is no message of JSON-RPC. */
export function readMessage(text: string): JsonObject | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return isJsonObject(message) && message['jsonrpc'] === '2.0' ? message : undefined;
  } catch {
    return undefined;
  }
}

/** JSON text: a line end in it can stand between its parts alone. */
export function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, ' ');
}
