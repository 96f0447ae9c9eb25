// Spending: what calls use up in this process: rates, which fill again, and budgets, which do not.
import type { RateLimitState } from '../../../contract/call/tool-response.ts';
import {
  NEW_BUDGETS,
  type Admission,
  type AdmissionRequest,
  type BudgetRule,
  type RateRule,
} from '../../../ports/admission-control.ts';
import { BudgetMeters, NO_BUDGETS, unusedOf } from './budget-meters.ts';
import { BegunBudgets } from './begun-budgets.ts';
import { RateMeters } from './rate-meters.ts';

type Refused = Admission & { readonly granted: false };
interface Spent {
  readonly shadowRefusals: readonly string[];
  /** Of each budget. Undefined: there are none. */
  readonly taken: readonly number[] | undefined;
}

export class Spending {
  readonly #rates: RateMeters;
  readonly #budgets: BudgetMeters;
  readonly #begun = new BegunBudgets();

  constructor(maxKeys: number) {
    this.#rates = new RateMeters(maxKeys);
    this.#budgets = new BudgetMeters(maxKeys);
  }

  get rateKeys(): number {
    return this.#rates.size;
  }

  /** Of the first rate or budget that has nothing left for the call. Spends nothing. */
  refusal({ rates, budgets = NO_BUDGETS, newBudgets }: AdmissionRequest, now: number): Refused | undefined {
    const rate = this.#rates.refusing(rates, now);
    if (rate !== undefined) {
      const retryAfterMs = this.#rates.retryAfterMs(rate, now);
      return {
        granted: false,
        refusedBy: 'rate',
        rule: rate.name,
        retryAfterMs,
        rates: this.states(rates, now),
      };
    }
    const budget = this.#budgets.refusing(budgets, now);
    if (budget !== undefined) {
      const { rule, used } = budget;
      return { granted: false, refusedBy: 'budget', rule: rule.name, used, rates: this.states(rates, now) };
    }
    if (newBudgets === undefined) return undefined;
    const retryAfterMs = this.#begun.retryAfterMs(newBudgets, this.#budgets.newOf(budgets, now), now);
    if (retryAfterMs === undefined) return undefined;
    return {
      granted: false,
      refusedBy: 'rate',
      rule: NEW_BUDGETS,
      retryAfterMs,
      rates: this.states(rates, now),
    };
  }

  /** Only after `refusal` found none, at the same `now`. */
  spend({ rates, budgets = NO_BUDGETS, newBudgets }: AdmissionRequest, now: number): Spent {
    if (newBudgets !== undefined) this.#begun.add(newBudgets, this.#budgets.newOf(budgets, now), now);
    const shadowRefusals = this.#rates.spend(rates, now);
    return { shadowRefusals, taken: budgets.length === 0 ? undefined : this.#budgets.spend(budgets, now) };
  }

  /** Counts a call that was let in elsewhere, and what it took there. */
  charge(
    rates: readonly RateRule[],
    budgets: readonly BudgetRule[],
    taken: readonly number[],
    now: number,
  ): void {
    this.#rates.charge(rates, now);
    this.#budgets.charge(budgets, taken, now);
  }

  giveBack(budgets: readonly BudgetRule[], taken: readonly number[], used: readonly number[]): void {
    for (const [key, amount] of unusedOf(budgets, taken, used)) this.#budgets.giveBack(key, amount);
  }

  states(rates: readonly RateRule[], now: number): RateLimitState[] {
    return this.#rates.states(rates, now);
  }

  used(budgets: readonly string[], now: number): readonly number[] {
    return budgets.map((key) => this.#budgets.used(key, now));
  }
}
