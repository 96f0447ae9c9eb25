// BegunBudgets: how many budgets began to be counted in a period, by whose they are.
import type { NewBudgetsRule } from '../../../ports/admission-control.ts';

interface Period {
  count: number;
  readonly endsAt: number;
}

export class BegunBudgets {
  /** Oldest first. */
  readonly #periods = new Map<string, Period>();

  /** Undefined: so many more may begin. Else when they may. */
  retryAfterMs({ key, limit }: NewBudgetsRule, more: number, now: number): number | undefined {
    const { count, endsAt } = this.#current(key, now) ?? { count: 0, endsAt: now };
    return more === 0 || count + more <= limit ? undefined : Math.max(1, endsAt - now);
  }

  add({ key, periodMs }: NewBudgetsRule, more: number, now: number): void {
    if (more === 0) return;
    const current = this.#current(key, now);
    if (current !== undefined) current.count += more;
    else {
      this.#tidy(now);
      this.#periods.delete(key);
      this.#periods.set(key, { count: more, endsAt: now + periodMs });
    }
  }

  #current(key: string, now: number): Period | undefined {
    const period = this.#periods.get(key);
    return period !== undefined && period.endsAt > now ? period : undefined;
  }

  /** Two that have ended go for each that begins, so that none pile up. */
  #tidy(now: number): void {
    let left = 2;
    for (const [key, { endsAt }] of this.#periods) {
      if (left === 0 || endsAt > now) return;
      left -= 1;
      this.#periods.delete(key);
    }
  }
}
