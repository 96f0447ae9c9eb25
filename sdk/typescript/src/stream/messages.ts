// What is said in a stream, as types: made from the gateway's own list of messages.
import type { StreamClientMessages, StreamServerMessages } from '../generated/stream.ts';

type OneOf<Messages> = { [Type in keyof Messages]: { readonly type: Type } & Messages[Type] }[keyof Messages];

export type ClientMessage = OneOf<StreamClientMessages>;
export type ServerMessage = OneOf<StreamServerMessages>;

export type ServerMessageOf<Type extends ServerMessage['type']> = Extract<ServerMessage, { type: Type }>;

/** What whoever reads a stream is given: it has a number, and comes once and in order. */
export type StreamMessage = Exclude<ServerMessage, { type: 'started' | 'resumed' | 'pong' | 'reconnect' }>;

/** The first message: with which session a stream begins. */
export type StreamStart = Omit<StreamClientMessages['start'], 'token'>;
