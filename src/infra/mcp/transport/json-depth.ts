// JsonDepth: how deep the JSON in a stream of bytes is nested, and how many values it holds, known before it is parsed and
// without remembering it.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;

/** Deeper than what core takes as a result, so that a little too deep is still refused there, in its words. */
export const MAX_DEPTH = 100;

export class JsonDepth {
  /** Containers and what they hold. */
  values = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** False: this byte leads deeper than is allowed. Bytes that are not JSON mean nothing to it. */
  push(byte: number): boolean {
    if (this.#inString) this.#pushInString(byte);
    else if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      this.#depth += 1;
      this.values += 1;
    } else if (byte === COMMA) this.values += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#depth -= 1;
    return this.#depth <= MAX_DEPTH;
  }

  pushAll(bytes: Uint8Array): boolean {
    for (const byte of bytes) if (!this.push(byte)) return false;
    return true;
  }

  reset(): void {
    this.values = 0;
    this.#depth = 0;
    this.#inString = false;
    this.#escaped = false;
  }

  #pushInString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inString = false;
  }
}
