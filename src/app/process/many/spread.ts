// Spread: which process gets the next connection: the one that holds the fewest of that door, the others in turn.
import type { Door } from './messages.ts';

interface Load {
  readonly open: Record<Door, number>;
  /** When it got its last one, as a count of connections. */
  readonly last: Record<Door, number>;
}

/** By what is open and not by turns alone, so that a process that was started again fills up. */
export class Spread {
  readonly #loads = new Map<number, Load>();
  #given = 0;

  add(process: number): void {
    this.#loads.set(process, { open: { rest: 0, grpc: 0 }, last: { rest: 0, grpc: 0 } });
  }

  has(process: number): boolean {
    return this.#loads.has(process);
  }

  remove(process: number): void {
    this.#loads.delete(process);
  }

  /** Counts it as open there. Undefined: nobody serves. */
  take(door: Door): number | undefined {
    let [found, least]: [number | undefined, Load | undefined] = [undefined, undefined];
    for (const [process, load] of this.#loads) {
      const fewer = least === undefined || load.open[door] < least.open[door];
      const earlier =
        least !== undefined && load.open[door] === least.open[door] && load.last[door] < least.last[door];
      if (fewer || earlier) [found, least] = [process, load];
    }
    if (least !== undefined) {
      least.open[door] += 1;
      least.last[door] = this.#given += 1;
    }
    return found;
  }

  closed(process: number, door: Door, count: number): void {
    const load = this.#loads.get(process);
    if (load !== undefined) load.open[door] = Math.max(0, load.open[door] - count);
  }
}
