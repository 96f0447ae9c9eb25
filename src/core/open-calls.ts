// OpenCalls: the calls that have begun and not ended, in slots that are used again.
import type { ToolCall } from '../contract/call/tool-call.ts';

/**
 * No Set: one that things pass through makes itself anew every so often, and leaves tables behind of which each leads to
 * the next. Once one of them is old, V8 keeps all that follow until the next full collection, and with them every call,
 * its request and its answer: 5 kB of each call that waited for its record to be synced.
 */
export class OpenCalls {
  readonly #slots: (ToolCall | undefined)[] = [];
  readonly #free: number[] = [];
  /** By slot: the how manieth call of all it is. */
  readonly #turns: number[] = [];
  #begun = 0;

  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** Gives its slot. */
  enter(call: ToolCall): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = call;
    this.#turns[slot] = this.#begun;
    this.#begun += 1;
    return slot;
  }

  /** Once. */
  leave(slot: number): void {
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  /** In the order in which they began. */
  list(): readonly ToolCall[] {
    return this.#slots
      .map((call, slot) => ({ call, turn: this.#turns[slot] ?? 0 }))
      .filter((each): each is { call: ToolCall; turn: number } => each.call !== undefined)
      .toSorted((one, other) => one.turn - other.turn)
      .map(({ call }) => call);
  }
}
