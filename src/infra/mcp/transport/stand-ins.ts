// StandIns: brings messages that were read already past a library that would parse them again, in one go. It is given a
// short message that stands for each, and gives that back.
import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

export class StandIns {
  /** By the id of the answer, or the method of the notification, that stands for the message: nobody else knows it. */
  readonly #messages = new Map<string, JSONRPCMessage>();

  /** An answer for an answer, which ends its stream; for anything else a notification. */
  for(message: JSONRPCMessage): JSONRPCMessage {
    const key = randomUUID();
    this.#messages.set(key, message);
    return 'method' in message ? { jsonrpc: '2.0', method: key } : { jsonrpc: '2.0', id: key, result: {} };
  }

  /** What it stands for, once; a message that stands for none is itself. */
  original(message: JSONRPCMessage): JSONRPCMessage {
    const key = 'method' in message ? message.method : message.id;
    const original = typeof key === 'string' ? this.#messages.get(key) : undefined;
    if (original === undefined) return message;
    this.#messages.delete(key as string);
    return original;
  }

  clear(): void {
    this.#messages.clear();
  }
}
