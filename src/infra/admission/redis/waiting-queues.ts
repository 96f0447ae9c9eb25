// WaitingQueues: of each lease that calls of this replica wait for: how many, and when the first of them asks again by itself.
import type { Clock } from '../../../ports/clock.ts';
import { nameOf } from './admission-store.ts';

interface Queue {
  waiting: number;
  /** Calls on their first question, which may end up in this queue. */
  asking: number;
  /** Calls of the queue that ask once more. */
  askingAgain: number;
  /** Settled when nobody asks any more; there while somebody waits for that. */
  answered: PromiseWithResolvers<void> | undefined;
  /** The store was told that this replica goes on waiting, for the sake of those whose first answer was still to come. */
  keepsTurn: boolean;
  /** Slots that may be free and that nobody has asked for yet. */
  pokes: number;
  lookAt: number;
  stopTimer: (() => void) | undefined;
}

export interface QueuesDeps {
  readonly clock: Clock;
  readonly random: () => number;
  /** Longest time between two looks. */
  readonly pollMs: number;
  look(key: string): void;
  /** Somebody asks, and may come to wait. */
  onOpen(key: string): void;
  /** Nobody here waits any more. */
  onEmpty(key: string): void;
}

export class WaitingQueues {
  readonly #deps: QueuesDeps;
  readonly #queues = new Map<string, Queue>();

  constructor(deps: QueuesDeps) {
    this.#deps = deps;
  }

  /** The key whose queue is called so; where there is none, the name itself. */
  keyOf(name: string): string {
    if (this.#queues.has(name)) return name;
    return [...this.#queues.keys()].find((key) => nameOf(key) === name) ?? name;
  }

  waiting(key: string): number {
    return this.#queues.get(key)?.waiting ?? 0;
  }

  asking(key: string): number {
    return this.#queues.get(key)?.asking ?? 0;
  }

  askingAgain(key: string): number {
    return this.#queues.get(key)?.askingAgain ?? 0;
  }

  /** How many may come to wait here without its being known yet: the turn of this replica is theirs as well. */
  keepTurnFor(key: string): number {
    const queue = this.#queues.get(key);
    if (queue === undefined || queue.asking === 0) return 0;
    queue.keepsTurn = true;
    return queue.asking;
  }

  has(key: string): boolean {
    return this.#queues.has(key);
  }

  beginAsking(key: string): void {
    this.#open(key).asking += 1;
  }

  endAsking(key: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    queue.asking -= 1;
    if (queue.asking === 0) {
      queue.answered?.resolve();
      queue.answered = undefined;
    }
    this.#closeIfEmpty(key, queue);
  }

  beginAskingAgain(key: string): void {
    this.#open(key).askingAgain += 1;
  }

  endAskingAgain(key: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    queue.askingAgain -= 1;
    this.#closeIfEmpty(key, queue);
  }

  /**
   * Settles when those have their answers who may still end up in a queue that the caller is about to enter: they came
   * before it. Undefined: there are none. Nobody begins to ask where somebody waits, so that the wait is short.
   */
  answersBefore(keys: readonly { readonly key: string }[]): Promise<void> | undefined {
    for (const { key } of keys) {
      const queue = this.#queues.get(key);
      if (queue === undefined || queue.asking === 0) continue;
      // Behind those who hold back already, too, where the queue has become empty meanwhile.
      if (queue.waiting > 0 || queue.answered !== undefined)
        return (queue.answered ??= Promise.withResolvers<void>()).promise;
    }
    return undefined;
  }

  enter(key: string): void {
    this.#open(key).waiting += 1;
  }

  /** `served` says that the store has ended the turn of this replica itself, if nobody else here waits. */
  leave(key: string, served: boolean): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    queue.waiting -= 1;
    if (queue.waiting === 0 && !served) this.#deps.onEmpty(key);
    this.#closeIfEmpty(key, queue);
  }

  poke(key: string, slots: number): void {
    const queue = this.#queues.get(key);
    if (queue !== undefined) queue.pokes += slots;
  }

  /** At least so many. */
  pokeTo(key: string, slots: number): void {
    const queue = this.#queues.get(key);
    if (queue !== undefined) queue.pokes = Math.max(queue.pokes, slots);
  }

  pokes(key: string): number {
    return this.#queues.get(key)?.pokes ?? 0;
  }

  takePoke(key: string): void {
    const queue = this.#queues.get(key);
    if (queue !== undefined && queue.pokes > 0) queue.pokes -= 1;
  }

  /** A look after `ms` at the latest, and then at every poll. */
  lookWithin(key: string, ms: number): void {
    const { clock, random, pollMs } = this.#deps;
    const delayMs = Math.max(1, Math.min(ms, pollMs));
    const queue = this.#queues.get(key);
    const at = performance.now() + delayMs;
    if (queue === undefined || queue.lookAt <= at) return;
    queue.stopTimer?.();
    queue.lookAt = at;
    queue.stopTimer = clock.after(delayMs * (1 + random() / 5), () => {
      queue.lookAt = Infinity;
      this.lookWithin(key, pollMs);
      this.#deps.look(key);
    });
  }

  #open(key: string): Queue {
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      const idle = { waiting: 0, asking: 0, askingAgain: 0, answered: undefined, keepsTurn: false, pokes: 0 };
      queue = { ...idle, lookAt: Infinity, stopTimer: undefined };
      this.#queues.set(key, queue);
      this.#deps.onOpen(key);
    }
    return queue;
  }

  #closeIfEmpty(key: string, queue: Queue): void {
    if (queue.waiting > 0) return;
    queue.stopTimer?.();
    queue.lookAt = Infinity;
    if (queue.asking > 0 || queue.askingAgain > 0) return;
    this.#queues.delete(key);
    if (queue.keepsTurn) this.#deps.onEmpty(key);
  }
}
