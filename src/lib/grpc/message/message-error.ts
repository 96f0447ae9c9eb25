// MessageError: why a message cannot be read or written, in a sentence; whoever asked makes a failure of it.

export type MessageFault = 'TOO_DEEP' | 'TOO_MANY_VALUES' | 'TOO_MANY_NAMES' | 'INVALID';

export class MessageError extends Error {
  constructor(
    readonly fault: MessageFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'MessageError';
  }
}
