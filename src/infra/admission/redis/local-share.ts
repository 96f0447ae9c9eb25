// LocalShare: what a replica does without the store: by each rule's policy its share of the limit, nothing, or everything.
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { RateLimitState } from '../../../contract/call/tool-response.ts';
import type {
  Admission,
  AdmissionRequest,
  BudgetRule,
  DegradedLimit,
  LeaseRule,
  RateRule,
} from '../../../ports/admission-control.ts';
import { PassingMap } from '../../../lib/concurrency/passing-map.ts';
import type { Clock } from '../../../ports/clock.ts';
import { NO_BUDGETS } from '../memory/budget-meters.ts';
import { MemoryAdmissionControl } from '../memory/memory-admission-control.ts';
import type { LiveCall } from './lease-keeper.ts';

/** The store is back: who waits is decided there. */
export class StoreBack extends Error {}

const RETRY_AFTER_MS = 1_000;

export class LocalShare {
  readonly #memory: MemoryAdmissionControl;
  /** Running calls that count here: those let in here, and those the store had let in when it went away. */
  readonly #counted = new PassingMap<string, (used?: readonly number[]) => void>();
  #back = new AbortController();

  constructor(clock: Clock) {
    this.#memory = new MemoryAdmissionControl(clock);
  }

  /** Throws ToolFailure UNAVAILABLE where a rule says `closed`, StoreBack, or the signal's reason. */
  async admit(request: AdmissionRequest, replicas: number, signal: AbortSignal): Promise<Admission> {
    const { budgets = NO_BUDGETS } = request;
    const rules = [...request.rates, ...request.leases, ...budgets];
    if (rules.some(({ onStoreFailure }) => onStoreFailure === 'closed')) throw closed();
    const rates = request.rates.filter(isLocal);
    const leases = request.leases.filter(isLocal);
    const decision = await this.#memory.admit(
      {
        ...request,
        rates: rates.map((rule) => shareOfRate(rule, replicas)),
        leases: leases.map((rule) => shareOfLease(rule, replicas)),
        budgets: budgets.map((rule) => shareOfBudget(rule, replicas)),
      },
      AbortSignal.any([signal, this.#back.signal]),
    );
    if (decision.granted) this.#counted.set(request.callId, (used) => decision.release(used));
    return { ...decision, rates: asDeclared(decision.rates, rates) };
  }

  /** The store let a call in: it is part of what this replica has used of its share, if the store goes away. */
  charge(
    { rates, budgets = NO_BUDGETS }: AdmissionRequest,
    replicas: number,
    taken: readonly number[],
  ): void {
    if (rates.length + budgets.length === 0) return;
    const shares = rates.filter(isLocal).map((rule) => shareOfRate(rule, replicas));
    this.#memory.charge(
      shares,
      budgets.map((rule) => shareOfBudget(rule, replicas)),
      taken,
    );
  }

  /** The store is away: what runs already is part of this replica's share. */
  begin(live: Iterable<LiveCall>): void {
    for (const { callId, leases } of live) {
      if (!this.#counted.has(callId)) this.#counted.set(callId, this.#memory.occupy(leases.filter(isLocal)));
    }
  }

  /** Whoever waits here is sent to the store. */
  end(): void {
    this.#back.abort(new StoreBack());
    this.#back = new AbortController();
  }

  release(callId: string, used?: readonly number[]): void {
    this.#counted.get(callId)?.(used);
    this.#counted.delete(callId);
  }

  close(): Promise<void> {
    return this.#memory.close();
  }
}

/** Which kinds of limits a call had that were not looked up in the store. */
export function degradedLimits({
  rates,
  leases,
  budgets = NO_BUDGETS,
}: AdmissionRequest): readonly DegradedLimit[] {
  return [
    ...(rates.length > 0 ? (['rate_limit'] as const) : []),
    ...(leases.length > 0 ? (['concurrency'] as const) : []),
    ...(budgets.length > 0 ? (['budget'] as const) : []),
  ];
}

function isLocal({ onStoreFailure = 'local' }: RateRule | LeaseRule): boolean {
  return onStoreFailure === 'local';
}

/** The same calls per time over all replicas: each lets one in every `replicas` periods where all together did in one. */
function shareOfRate(rule: RateRule, replicas: number): RateRule {
  return {
    ...rule,
    burst: Math.max(1, Math.floor(rule.burst / replicas)),
    periodMs: rule.periodMs * replicas,
  };
}

function shareOfLease(rule: LeaseRule, replicas: number): LeaseRule {
  return { ...rule, limit: Math.max(1, Math.floor(rule.limit / replicas)) };
}

/** What one replica has of it. A call that takes more than that is not let in here. */
function shareOfBudget(rule: BudgetRule, replicas: number): BudgetRule {
  return { ...rule, limit: Math.max(Math.min(1, rule.limit), Math.floor(rule.limit / replicas)) };
}

function asDeclared(
  states: readonly RateLimitState[],
  rules: readonly RateRule[],
): readonly RateLimitState[] {
  return states.map((state, index) => ({ ...state, periodMs: rules[index]?.periodMs ?? state.periodMs }));
}

function closed(): ToolFailure {
  return toolFailure('LIMITS_UNAVAILABLE', 'The limits of this tool cannot be counted at the moment.', {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
