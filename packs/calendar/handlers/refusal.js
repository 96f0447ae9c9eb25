// A failure that the caller reads: its type is one of the gateway's list.
// @ts-check

export class Refusal extends Error {
  /**
   * @param {string} type
   * @param {string} message
   * @param {{ reason?: string, retryable?: boolean, retryAfterMs?: number, partialSideEffects?: boolean }} [more]
   */
  constructor(type, message, more = {}) {
    super(message);
    this.type = type;
    Object.assign(this, more);
  }
}
