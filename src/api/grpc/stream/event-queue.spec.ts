// EventQueue: a slow reader costs bounded memory, loses no partial result in silence, and nothing changes order.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventQueue, MAX_PENDING_BYTES, MAX_PENDING_EVENTS } from './event-queue.ts';

class Pace {
  writableNeedDrain = false;
  readonly #listeners = new Set<() => void>();

  on(_event: 'drain', listener: () => void): void {
    this.#listeners.add(listener);
  }

  off(_event: 'drain', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  drain(): void {
    this.writableNeedDrain = false;
    for (const listener of this.#listeners) listener();
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}

function setUp() {
  const pace = new Pace();
  const sent: number[] = [];
  let overflows = 0;
  const queue = new EventQueue(pace, {
    send: (message) => sent.push(message[0] ?? -1),
    overflow: () => (overflows += 1),
  });
  return { pace, queue, sent, overflows: () => overflows };
}

const message = (mark: number) => Uint8Array.of(mark);

describe('event queue', () => {
  it('keeps the order, whatever the rhythm of the reader', () => {
    const step = fc.constantFrom('push', 'stall', 'drain');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { pace, queue, sent } = setUp();
        let pushed = 0;
        for (const what of steps) {
          if (what === 'push') queue.push(message(pushed++), false);
          else if (what === 'stall') pace.writableNeedDrain = true;
          else pace.drain();
        }
        pace.drain();
        expect(sent).toEqual(Array.from({ length: pushed }, (_, index) => index));
      }),
    );
  });

  it('leaves out progress and logs that a full queue cannot take', () => {
    const { pace, queue, sent, overflows } = setUp();
    pace.writableNeedDrain = true;
    for (let count = 0; count < MAX_PENDING_EVENTS + 50; count += 1) queue.push(message(1), true);
    pace.drain();
    expect(sent).toHaveLength(MAX_PENDING_EVENTS);
    expect(overflows()).toBe(0);
  });

  it('overflows, once, rather than lose a partial result', () => {
    const { pace, queue, overflows } = setUp();
    pace.writableNeedDrain = true;
    for (let count = 0; count < MAX_PENDING_EVENTS + 2; count += 1) queue.push(message(1), false);
    expect(overflows()).toBe(1);
  });

  it('bounds the bytes too', () => {
    const { pace, queue, overflows } = setUp();
    pace.writableNeedDrain = true;
    queue.push(new Uint8Array(MAX_PENDING_BYTES), false);
    expect(overflows()).toBe(0);
    queue.push(message(1), false);
    expect(overflows()).toBe(1);
  });

  it('ends after the last waiting message and takes nothing more', () => {
    const { pace, queue, sent } = setUp();
    pace.writableNeedDrain = true;
    queue.push(message(1), false);
    queue.finish(() => sent.push(99));
    queue.push(message(2), false);
    expect(sent).toEqual([]);
    pace.drain();
    expect(sent).toEqual([1, 99]);
  });

  it('leaves no listener behind', () => {
    const { pace, queue } = setUp();
    queue.close();
    expect(pace.listeners).toBe(0);
  });
});
