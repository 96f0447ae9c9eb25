// GroupCommit: what many ask for at the same time goes to the database as one statement, like the log of a database itself.
import { setImmediate as yieldToLoop } from 'node:timers/promises';
import { codeOf } from '../../lib/error-code.ts';

export interface GroupBounds<In> {
  readonly maxItems: number;
  readonly maxWeight?: number;
  readonly weigh?: (item: In) => number;
  /** While many come, they are gathered until this resolves; a few go at once. */
  readonly gather?: () => Promise<unknown>;
}

interface Waiting<In, Out> {
  readonly item: In;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

/** SQLSTATE classes of what one item may have brought about: bad data, a constraint, a limit of the program. */
const OF_ONE_ITEM = /^(22|23|54)/;
const FEW = 4;

export class GroupCommit<In, Out> {
  readonly #commit: (items: readonly In[]) => Promise<readonly Out[]>;
  readonly #bounds: GroupBounds<In>;
  #waiting: Waiting<In, Out>[] = [];
  #running = false;

  /** `commit` gives one answer per item, in their order. */
  constructor(commit: (items: readonly In[]) => Promise<readonly Out[]>, bounds: GroupBounds<In>) {
    this.#commit = commit;
    this.#bounds = bounds;
  }

  run(item: In): Promise<Out> {
    return new Promise<Out>((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#running) return;
      this.#running = true;
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Those that come in the same turn of the event loop go along: each is read from a socket of its own.
      await yieldToLoop();
      const group = this.#next();
      await this.#settle(group);
      if (group.length > FEW) await this.#gather();
    }
    this.#running = false;
  }

  /** Those that were just answered come again soon, others with them: fewer and larger groups cost everybody less. */
  async #gather(): Promise<void> {
    const { gather, maxItems } = this.#bounds;
    if (gather !== undefined && this.#waiting.length < maxItems) await gather();
  }

  #next(): readonly Waiting<In, Out>[] {
    const { maxItems, maxWeight = Number.POSITIVE_INFINITY, weigh = () => 0 } = this.#bounds;
    let count = 0;
    for (let weight = 0; count < Math.min(maxItems, this.#waiting.length); count += 1) {
      const next = this.#waiting[count];
      weight += next === undefined ? 0 : weigh(next.item);
      if (count > 0 && weight > maxWeight) break;
    }
    return this.#waiting.splice(0, count);
  }

  async #settle(group: readonly Waiting<In, Out>[]): Promise<void> {
    try {
      const answers = await this.#commit(group.map(({ item }) => item));
      group.forEach(({ resolve }, index) => resolve(answers[index] as Out));
    } catch (error) {
      // Nobody fails for what another brought.
      if (group.length > 1 && OF_ONE_ITEM.test(codeOf(error)))
        for (const one of group) await this.#settle([one]);
      else for (const { reject } of group) reject(error);
    }
  }
}
