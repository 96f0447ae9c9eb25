// Outbox: numbers without gaps, nothing lost or said twice however often the connection is lost, and bounded memory.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_KEPT, MOST_KEPT_SIZE, Outbox, type Numbered } from './outbox.ts';

/** A reader that takes so many before it is full. */
class Connection {
  readonly got: Numbered<string>[] = [];
  readonly #room: number;

  constructor(room = Number.POSITIVE_INFINITY) {
    this.#room = room;
  }

  send(numbered: Numbered<string>): boolean {
    this.got.push(numbered);
    return this.got.length % this.#room !== 0;
  }
}

const step = fc.oneof(
  fc.constant({ kind: 'push' } as const),
  fc.constant({ kind: 'drain' } as const),
  fc.record({ kind: fc.constant('lose' as const), unread: fc.nat(5), room: fc.integer({ min: 1, max: 5 }) }),
);

describe('outbox', () => {
  it('a client that resumes from the last it read has everything once and in order', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const outbox = new Outbox<string>();
        const read: Numbered<string>[] = [];
        let pushed = 0;
        let connection = new Connection(3);
        outbox.attach(connection, 0);
        const lose = (unread: number, room: number) => {
          // What was on its way when the connection broke is lost.
          const arrived = connection.got.slice(0, Math.max(0, connection.got.length - unread));
          read.push(...arrived);
          outbox.detach();
          connection = new Connection(room);
          const seq = read.at(-1)?.seq ?? 0;
          expect(outbox.keeps(seq)).toBe(true);
          outbox.attach(connection, seq);
        };
        for (const each of steps) {
          if (each.kind === 'push') outbox.push(`message ${++pushed}`, 10);
          else if (each.kind === 'drain') outbox.drained();
          else lose(each.unread, each.room);
        }
        lose(2, 1_000_000);
        lose(0, 1_000_000);
        expect(read.map(({ seq, message }) => [seq, message])).toEqual(
          Array.from({ length: pushed }, (_, index) => [index + 1, `message ${index + 1}`]),
        );
        expect([outbox.isBehind, outbox.unsentSize]).toEqual([false, 0]);
      }),
    );
  });

  it('keeps a bounded number of what was sent, and says what is not kept any more', () => {
    const outbox = new Outbox<string>();
    outbox.attach(new Connection(), 0);
    for (let count = 0; count < 5 * MOST_KEPT; count += 1) outbox.push('x', 1);
    expect(outbox.kept.length).toBeLessThanOrEqual(2 * MOST_KEPT);
    expect(outbox.kept.length).toBeGreaterThanOrEqual(MOST_KEPT);
    expect([outbox.keeps(1), outbox.keeps(outbox.last - MOST_KEPT), outbox.keeps(outbox.last)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('keeps a bounded size of what was sent', () => {
    const outbox = new Outbox<string>();
    outbox.attach(new Connection(), 0);
    for (let count = 0; count < 100; count += 1) outbox.push('x', MOST_KEPT_SIZE / 8);
    expect(outbox.kept.length).toBeLessThanOrEqual(16);
  });

  it('gives up nothing that was not sent yet', () => {
    const outbox = new Outbox<string>();
    for (let count = 0; count < 3 * MOST_KEPT; count += 1) outbox.push('x', 1);
    const connection = new Connection();
    outbox.attach(connection, 0);
    expect(connection.got).toHaveLength(3 * MOST_KEPT);
  });

  it('copies nothing for each message of a reader that reads nothing, however much waits', () => {
    const outbox = new Outbox<string>();
    for (let count = 0; count < 3 * MOST_KEPT; count += 1) outbox.push('x', 1);
    const { kept } = outbox;
    for (let count = 0; count < MOST_KEPT; count += 1) outbox.push('x', 1);
    expect(outbox.kept).toBe(kept);
    expect(kept).toHaveLength(4 * MOST_KEPT);
  });

  it('goes on elsewhere from what was kept', () => {
    const outbox = new Outbox<string>();
    for (const message of ['a', 'b', 'c']) outbox.push(message, 1);
    const elsewhere = new Outbox(outbox.kept, outbox.last + 1);
    const connection = new Connection();
    elsewhere.attach(connection, 1);
    elsewhere.push('d', 1);
    expect(connection.got.map(({ seq, message }) => `${seq}${message}`)).toEqual(['2b', '3c', '4d']);
  });

  it('nobody resumes from what was never said', () => {
    const outbox = new Outbox<string>();
    outbox.push('a', 1);
    expect([outbox.keeps(1), outbox.keeps(2)]).toEqual([true, false]);
  });
});
