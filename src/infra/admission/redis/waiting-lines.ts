// WaitingLines: of each lease that calls of this replica wait for: how many, and when the first of them asks again by itself.
import type { Clock } from '../../../ports/clock.ts';
import { nameOf } from './admission-store.ts';

interface Line {
  waiting: number;
  /** Calls on their first question, which may end up in this line. */
  asking: number;
  /** Calls of the line that ask once more. */
  askingAgain: number;
  /** Settled when nobody asks any more; there while somebody waits for that. */
  answered: PromiseWithResolvers<void> | undefined;
  /** The store was told that this replica goes on waiting, for the sake of those whose first answer was still to come. */
  keepsTurn: boolean;
  /** Places that may be free and that nobody has asked for yet. */
  pokes: number;
  lookAt: number;
  stopTimer: (() => void) | undefined;
}

export interface LinesDeps {
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

export class WaitingLines {
  readonly #deps: LinesDeps;
  readonly #lines = new Map<string, Line>();

  constructor(deps: LinesDeps) {
    this.#deps = deps;
  }

  /** The key whose line is called so; where there is none, the name itself. */
  keyOf(name: string): string {
    if (this.#lines.has(name)) return name;
    return [...this.#lines.keys()].find((key) => nameOf(key) === name) ?? name;
  }

  waiting(key: string): number {
    return this.#lines.get(key)?.waiting ?? 0;
  }

  asking(key: string): number {
    return this.#lines.get(key)?.asking ?? 0;
  }

  askingAgain(key: string): number {
    return this.#lines.get(key)?.askingAgain ?? 0;
  }

  /** How many may come to wait here without its being known yet: the turn of this replica is theirs as well. */
  keepTurnFor(key: string): number {
    const line = this.#lines.get(key);
    if (line === undefined || line.asking === 0) return 0;
    line.keepsTurn = true;
    return line.asking;
  }

  has(key: string): boolean {
    return this.#lines.has(key);
  }

  beginAsking(key: string): void {
    this.#open(key).asking += 1;
  }

  endAsking(key: string): void {
    const line = this.#lines.get(key);
    if (line === undefined) return;
    line.asking -= 1;
    if (line.asking === 0) {
      line.answered?.resolve();
      line.answered = undefined;
    }
    this.#closeIfEmpty(key, line);
  }

  beginAskingAgain(key: string): void {
    this.#open(key).askingAgain += 1;
  }

  endAskingAgain(key: string): void {
    const line = this.#lines.get(key);
    if (line === undefined) return;
    line.askingAgain -= 1;
    this.#closeIfEmpty(key, line);
  }

  /**
   * Settles when those have their answers who may still end up in a line that the caller is about to enter: they came
   * before it. Undefined: there are none. Nobody begins to ask where somebody waits, so that the wait is short.
   */
  answersBefore(keys: readonly { readonly key: string }[]): Promise<void> | undefined {
    for (const { key } of keys) {
      const line = this.#lines.get(key);
      if (line === undefined || line.asking === 0) continue;
      // Behind those who hold back already, too, where the line has become empty meanwhile.
      if (line.waiting > 0 || line.answered !== undefined)
        return (line.answered ??= Promise.withResolvers<void>()).promise;
    }
    return undefined;
  }

  enter(key: string): void {
    this.#open(key).waiting += 1;
  }

  /** `served` says that the store has ended the turn of this replica itself, if nobody else here waits. */
  leave(key: string, served: boolean): void {
    const line = this.#lines.get(key);
    if (line === undefined) return;
    line.waiting -= 1;
    if (line.waiting === 0 && !served) this.#deps.onEmpty(key);
    this.#closeIfEmpty(key, line);
  }

  poke(key: string, places: number): void {
    const line = this.#lines.get(key);
    if (line !== undefined) line.pokes += places;
  }

  /** At least so many. */
  pokeTo(key: string, places: number): void {
    const line = this.#lines.get(key);
    if (line !== undefined) line.pokes = Math.max(line.pokes, places);
  }

  pokes(key: string): number {
    return this.#lines.get(key)?.pokes ?? 0;
  }

  takePoke(key: string): void {
    const line = this.#lines.get(key);
    if (line !== undefined && line.pokes > 0) line.pokes -= 1;
  }

  /** A look after `ms` at the latest, and then at every poll. */
  lookWithin(key: string, ms: number): void {
    const { clock, random, pollMs } = this.#deps;
    const delayMs = Math.max(1, Math.min(ms, pollMs));
    const line = this.#lines.get(key);
    const at = performance.now() + delayMs;
    if (line === undefined || line.lookAt <= at) return;
    line.stopTimer?.();
    line.lookAt = at;
    line.stopTimer = clock.after(delayMs * (1 + random() / 5), () => {
      line.lookAt = Infinity;
      this.lookWithin(key, pollMs);
      this.#deps.look(key);
    });
  }

  #open(key: string): Line {
    let line = this.#lines.get(key);
    if (line === undefined) {
      const idle = { waiting: 0, asking: 0, askingAgain: 0, answered: undefined, keepsTurn: false, pokes: 0 };
      line = { ...idle, lookAt: Infinity, stopTimer: undefined };
      this.#lines.set(key, line);
      this.#deps.onOpen(key);
    }
    return line;
  }

  #closeIfEmpty(key: string, line: Line): void {
    if (line.waiting > 0) return;
    line.stopTimer?.();
    line.lookAt = Infinity;
    if (line.asking > 0 || line.askingAgain > 0) return;
    this.#lines.delete(key);
    if (line.keepsTurn) this.#deps.onEmpty(key);
  }
}
