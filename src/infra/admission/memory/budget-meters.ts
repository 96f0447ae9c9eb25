// BudgetMeters: how much of each budget is used, in this process.
import type { BudgetRule } from '../../../ports/admission-control.ts';

interface Meter {
  used: number;
  forgetAt: number;
}

export interface SpentBudget {
  readonly rule: BudgetRule;
  readonly used: number;
}

export const NO_BUDGETS: readonly BudgetRule[] = [];

export class BudgetMeters {
  /** Least recently used first. */
  readonly #meters = new Map<string, Meter>();
  readonly #maxKeys: number;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#meters.size;
  }

  /** The first budget that has not enough left. Spends nothing. */
  refusing(rules: readonly BudgetRule[], now: number): SpentBudget | undefined {
    for (const rule of rules) {
      const used = this.used(rule.key, now);
      const least = rule.orLess === true ? 1 : rule.amount;
      if (used + least > rule.limit || !this.#hasCapacity(rule.key, now)) return { rule, used };
    }
    return undefined;
  }

  /** Only after `refusing` found none, at the same `now`. How much was taken of each. */
  spend(rules: readonly BudgetRule[], now: number): readonly number[] {
    return rules.map((rule) => {
      const used = this.used(rule.key, now);
      const amount = rule.orLess === true ? Math.min(rule.amount, rule.limit - used) : rule.amount;
      this.#set(rule, used + amount, now);
      return amount;
    });
  }

  /** Counts what was taken elsewhere: no budget refuses it, and none is used up by more than all there is. */
  charge(rules: readonly BudgetRule[], amounts: readonly number[], now: number): void {
    rules.forEach((rule, index) => {
      const used = Math.min(this.used(rule.key, now) + (amounts[index] ?? rule.amount), rule.limit);
      if (this.#hasCapacity(rule.key, now)) this.#set(rule, used, now);
    });
  }

  giveBack(key: string, amount: number): void {
    const meter = this.#meters.get(key);
    if (meter !== undefined) meter.used = Math.max(0, meter.used - amount);
  }

  /** How many of them are not counted yet. */
  newOf(rules: readonly BudgetRule[], now: number): number {
    return rules.filter(({ key }) => {
      const meter = this.#meters.get(key);
      return meter === undefined || meter.forgetAt <= now;
    }).length;
  }

  used(key: string, now: number): number {
    const meter = this.#meters.get(key);
    return meter === undefined || meter.forgetAt <= now ? 0 : meter.used;
  }

  #set({ key, forgetAfterMs }: BudgetRule, used: number, now: number): void {
    this.#tidy(now);
    this.#meters.delete(key);
    this.#meters.set(key, { used, forgetAt: now + forgetAfterMs });
  }

  /** With every meter in use a new key is refused: forgetting one of them would give somebody a new budget. */
  #hasCapacity(key: string, now: number): boolean {
    if (this.#meters.size < this.#maxKeys || this.#meters.has(key)) return true;
    this.#tidy(now);
    return this.#meters.size < this.#maxKeys;
  }

  /** Looks after two meters for each that is set, so that forgotten ones are gone before they can pile up. */
  #tidy(now: number): void {
    let visits = 2;
    for (const [key, meter] of this.#meters) {
      if (visits === 0) return;
      visits -= 1;
      this.#meters.delete(key);
      if (meter.forgetAt > now) this.#meters.set(key, meter);
    }
  }
}

/** What is to be given back, by key. */
export function unusedOf(
  budgets: readonly BudgetRule[],
  taken: readonly number[],
  used: readonly number[],
): readonly (readonly [key: string, amount: number])[] {
  return budgets.flatMap(({ key }, index) => {
    const unused = (taken[index] ?? 0) - (used[index] ?? 0);
    return unused > 0 ? [[key, unused] as const] : [];
  });
}
