// What Redis answers about one call, and what it means.
import type { RateLimitState } from '../../../contract/call/tool-response.ts';
import {
  NEW_BUDGETS,
  type AdmissionRequest,
  type BudgetRule,
  type LeaseRule,
  type RateRule,
} from '../../../ports/admission-control.ts';
import { NO_BUDGETS } from '../memory/budget-meters.ts';

export type AdmitReply =
  | { readonly kind: 'other_epoch' }
  | {
      readonly kind: 'granted';
      /** Only where there are leases. */
      readonly fencingToken: string | undefined;
      /** Slots that are left in the fullest of its leases. */
      readonly left: number;
      readonly rates: readonly RateLimitState[];
      readonly shadowRefusals: readonly string[];
      /** Of each budget. */
      readonly taken: readonly number[];
    }
  | {
      readonly kind: 'budget';
      readonly rule: BudgetRule;
      readonly used: number;
      readonly rates: readonly RateLimitState[];
    }
  | {
      readonly kind: 'rate';
      readonly rule: Pick<RateRule, 'name'>;
      readonly retryAfterMs: number;
      readonly rates: readonly RateLimitState[];
    }
  | {
      readonly kind: 'full';
      readonly full: readonly LeaseRule[];
      /** When the next lease runs out if it is not renewed. */
      readonly firstExpiryMs: number;
      readonly rates: readonly RateLimitState[];
    };

/** As the script gives it. */
export type RawReply =
  | readonly ['granted', string, number, RawStates, readonly number[]]
  | readonly ['budget', number, number, RawStates]
  | readonly ['rate', number, number, RawStates]
  | readonly ['new', number, number, RawStates]
  | readonly ['full', number, readonly number[], RawStates];
/** Three per rate: remaining, ms until all is there again, 1 where the call fits. */
type RawStates = readonly number[];

export function readReply(
  raw: RawReply,
  { rates: rules, leases, budgets = NO_BUDGETS }: AdmissionRequest,
): AdmitReply {
  const states = raw[3];
  const rates = rules.map(({ name, burst, periodMs }, index) => ({
    name,
    limit: burst,
    remaining: states[3 * index] ?? 0,
    resetMs: states[3 * index + 1] ?? 0,
    periodMs,
  }));
  if (raw[0] === 'full') {
    const full = leases.filter((_, index) => raw[2].includes(index + 1));
    return { kind: 'full', firstExpiryMs: raw[1], full, rates };
  }
  if (raw[0] === 'rate') {
    const rule = rules[raw[1] - 1];
    if (rule === undefined) throw new Error('the store refused by a rate that was not asked for');
    return { kind: 'rate', rule, retryAfterMs: raw[2], rates };
  }
  if (raw[0] === 'new') return { kind: 'rate', rule: { name: NEW_BUDGETS }, retryAfterMs: raw[1], rates };
  if (raw[0] === 'budget') {
    const rule = budgets[raw[1] - 1];
    if (rule === undefined) throw new Error('the store refused by a budget that was not asked for');
    return { kind: 'budget', rule, used: raw[2], rates };
  }
  const shadowRefusals = rules.filter((_, index) => states[3 * index + 2] === 0).map(({ name }) => name);
  const [, fence, left, , taken] = raw;
  const fencingToken = fence === '' ? undefined : fence;
  return { kind: 'granted', fencingToken, left, rates, shadowRefusals, taken };
}
