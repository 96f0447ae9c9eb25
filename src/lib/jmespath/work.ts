// Work: how much one call's expressions may compute. What a step returned is hostile, and may be huge.
import { isJsonObject, type JsonValue } from '../json/json-value.ts';

/**
 * Nodes visited, items made, and a part of the characters handled, over all expressions of one call: some 20
 * nanoseconds each, so that the event loop is not held for long by what one call computes.
 */
const MAX_WORK = 1_000_000;
const CHARACTERS_PER_UNIT = 16;

/** An expression that could not be evaluated on this data; the message is for the caller. */
export class ExpressionError extends Error {
  readonly reason: 'EXPRESSION_FAILED' | 'EXPRESSION_TOO_COSTLY';

  constructor(message: string, reason: ExpressionError['reason'] = 'EXPRESSION_FAILED') {
    super(message);
    this.name = 'ExpressionError';
    this.reason = reason;
  }
}

export class Work {
  #left: number;

  constructor(limit = MAX_WORK) {
    this.#left = limit;
  }

  /** Throws ExpressionError once the whole is spent. */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) {
      const message = 'the expressions of this call would have to compute too much';
      throw new ExpressionError(message, 'EXPRESSION_TOO_COSTLY');
    }
  }

  spendText(length: number): void {
    this.spend(1 + length / CHARACTERS_PER_UNIT);
  }

  /**
   * Pays for the value as it would be written out: one that holds itself over and over is small in memory and
   * endless as text. Refuses what no door lets in.
   */
  spendWhole(value: JsonValue): void {
    if (typeof value === 'string') this.spendText(value.length);
    else if (Array.isArray(value)) {
      this.spend(1);
      for (const item of value) this.spendWhole(item);
    } else if (isJsonObject(value)) {
      this.spend(1);
      for (const [key, item] of Object.entries(value)) {
        if (key === '__proto__') throw new ExpressionError('the data holds the key "__proto__"');
        this.spendText(key.length);
        this.spendWhole(item);
      }
    } else {
      if (typeof value === 'number' && !Number.isFinite(value))
        throw new ExpressionError(`a number came out as ${value}`);
      this.spend(2);
    }
  }
}
