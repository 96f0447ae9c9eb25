// What admission asks about one call, as the keys and arguments that the script of admit-lua.ts takes for it.
import type { AdmissionRequest, LeaseRule } from '../../../ports/admission-control.ts';
import { NO_BUDGETS } from '../memory/budget-meters.ts';

export interface AdmitQuestion {
  readonly request: AdmissionRequest;
  readonly epoch: string;
  /** A full lease gives this replica a turn. */
  readonly mayWait: boolean;
  /** It waits already, and stands first. */
  readonly again?: boolean;
  /** Other calls of this replica that wait for a slot of the lease. */
  readonly othersWaiting: (rule: LeaseRule) => number;
}

export interface Asked {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** How long the answer about a call without leases is kept, for a client that asks again because it got no reply. */
const RECORD_TTL_MS = 2_000;

/** `keyOf` gives a key of Redis its name. */
export function questionOf(
  { request, mayWait, again = false, othersWaiting }: AdmitQuestion,
  keyOf: (kind: string, key: string) => string,
  leaseTtlMs: number,
): Asked {
  const { callId, rates, leases, budgets = NO_BUDGETS, newBudgets } = request;
  const keys = [keyOf('call', callId)];
  const recordMs = leases.length > 0 ? leaseTtlMs : RECORD_TTL_MS;
  const wait = again ? 2 : Number(mayWait);
  const begun = newBudgets === undefined ? 0 : 1;
  const args = [callId, recordMs, wait, rates.length, leases.length, budgets.length, begun];
  for (const rule of rates) {
    keys.push(keyOf('rate', rule.key));
    args.push(rule.burst, rule.rate, rule.periodMs, rule.shadow === true ? 1 : 0);
  }
  for (const rule of leases) {
    keys.push(keyOf('lease', rule.key), keyOf('turns', rule.key), keyOf('beats', rule.key));
    args.push(rule.limit, othersWaiting(rule));
  }
  for (const rule of budgets) {
    keys.push(keyOf('budget', rule.key));
    args.push(rule.limit, rule.amount, rule.orLess === true ? 1 : 0, rule.forgetAfterMs);
  }
  if (newBudgets !== undefined) {
    keys.push(keyOf('begun', newBudgets.key));
    args.push(newBudgets.limit, newBudgets.periodMs);
  }
  return { keys, args };
}
