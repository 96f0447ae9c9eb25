// RedisAdmissionControl: rate limits, budgets and concurrency leases over all replicas, one round trip per admitted call.
import { randomUUID } from 'node:crypto';
import { PassingMap } from '../../../lib/concurrency/passing-map.ts';
import type { Admission, AdmissionControl, AdmissionRequest } from '../../../ports/admission-control.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { Metrics } from '../../../ports/telemetry/metrics.ts';
import { NO_BUDGETS } from '../memory/budget-meters.ts';
import { closing, firstRepeated } from '../memory/memory-admission-control.ts';
import { admissionSeries } from './admission-series.ts';
import { AdmissionStore } from './admission-store.ts';
import { GrantedCalls } from './granted-calls.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { degradedLimits, LocalShare, StoreBack } from './local-share.ts';
import type { RedisClients } from '../../redis/redis-clients.ts';
import { SharedAdmission } from './shared-admission.ts';
import { StoreAway, StoreHealth } from '../../redis/store-health.ts';
import { StorePulse } from '../../redis/store-pulse.ts';

export interface RedisAdmissionOptions {
  /** How long the slot of a replica that died stays taken. */
  readonly leaseTtlMs?: number;
  /** Between two rounds of renewal. */
  readonly tickMs?: number;
  /** Longest time between two questions of who stands first in a queue. */
  readonly pollMs?: number;
}

export interface RedisAdmissionNeeds {
  readonly clients: RedisClients;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface Asked {
  readonly request: AdmissionRequest;
  readonly signal: AbortSignal;
  readonly at: number;
  /** The store may have let it in: it was asked, and its answer did not come. */
  suspected: boolean;
}

const FREE: Promise<Admission> = Promise.resolve({
  granted: true,
  rates: [],
  waitedMs: 0,
  release: () => undefined,
});

/**
 * The store decides while it answers; without it each replica goes by its share of the limits, or by what a rule says
 * for that case. A call that waits when this changes waits on where decisions are made then.
 */
export class RedisAdmissionControl implements AdmissionControl {
  readonly #needs: RedisAdmissionNeeds;
  readonly #store: AdmissionStore;
  readonly #keeper: LeaseKeeper;
  readonly #health: StoreHealth;
  readonly #pulse: StorePulse;
  readonly #shared: SharedAdmission;
  readonly #local: LocalShare;
  readonly #grants: GrantedCalls;
  /** Calls that hold or wait: asking again with the same id is answered with the same admission. */
  readonly #calls = new PassingMap<string, Promise<Admission>>();
  #closed = false;

  constructor(needs: RedisAdmissionNeeds, options: RedisAdmissionOptions = {}) {
    const { leaseTtlMs = 15_000, tickMs = 1_000, pollMs = 300 } = options;
    const { clients, clock, log, metrics } = needs;
    const random = Math.random;
    const replica = randomUUID();
    const { lost, degraded } = admissionSeries(metrics);
    const times = { leaseTtlMs, silentMs: 5 * pollMs, replicaTtlMs: 5 * tickMs };
    const store = new AdmissionStore(clients, replica, times);
    const onRelease = () => this.#grants.sendSoon();
    const keeper = new LeaseKeeper({ store, leaseTtlMs, tickMs, random, lost, onRelease });
    const health = new StoreHealth({
      clock,
      log,
      random,
      degraded,
      quarantineMs: leaseTtlMs,
      join: (epoch, offered) => store.renew(epoch, [], offered),
      joined: (epoch, isNew) => keeper.tellAll(epoch, isNew),
      onChange: (isUp) => this.#changed(isUp),
      reconnect: () => clients.reconnect(),
    });
    this.#needs = needs;
    this.#store = store;
    this.#keeper = keeper;
    this.#health = health;
    this.#pulse = new StorePulse({ keeper, health, clock, random, tickMs });
    this.#local = new LocalShare(clock);
    this.#shared = new SharedAdmission({ store, keeper, health, clock, random, pollMs });
    const ended = (callId: string) => this.#calls.delete(callId);
    this.#grants = new GrantedCalls({
      store,
      keeper,
      health,
      clock,
      shared: this.#shared,
      local: this.#local,
      ended,
    });
    this.#listen(replica);
  }

  /** Resolves when the store has answered or turned out to be away; both will do. */
  async start(): Promise<void> {
    const { clients, log } = this.#needs;
    clients.coordination.on('ready', this.#loadScripts);
    await this.#store.loadScripts().catch(() => undefined);
    const isUp = await this.#health.start();
    if (!isUp)
      log.warn(
        {},
        'limits are enforced by each replica, by its share or their policy, until Redis answers: it is unreachable at the start',
      );
    this.#pulse.start();
  }

  /** While it is, every replica goes by its share. */
  get isAway(): boolean {
    return !this.#health.isUp;
  }

  admit(request: AdmissionRequest, signal: AbortSignal): Promise<Admission> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (this.#closed) return Promise.reject(closing());
    const { callId, rates, leases, budgets = NO_BUDGETS } = request;
    if (rates.length + leases.length + budgets.length === 0) return FREE;
    const known = this.#calls.get(callId);
    if (known !== undefined) return known;
    const twice = firstRepeated(rates) ?? firstRepeated(leases) ?? firstRepeated(budgets);
    if (twice !== undefined)
      return Promise.reject(new Error(`a request may name the key "${twice}" only once`));
    const decided = this.#decide({ request, signal, at: this.#needs.clock.now(), suspected: false });
    this.#calls.set(callId, decided);
    const forget = () => this.#calls.delete(callId);
    decided.then((admission) => admission.granted || forget(), forget);
    return decided;
  }

  async spent(keys: readonly string[]): Promise<readonly number[] | undefined> {
    if (!this.#health.isUp) return undefined;
    return this.#store.spent(keys).catch(() => undefined);
  }

  /** What is kept in memory, in entries: nothing stays of calls that have ended. */
  get entries(): { readonly calls: number; readonly live: number; readonly waiting: number } {
    return { calls: this.#calls.size, live: this.#keeper.size, waiting: this.#shared.waiting };
  }

  /** Whoever waits is rejected with UNAVAILABLE; every lease of this replica is given back. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#pulse.stop();
    this.#health.stop();
    this.#grants.stop();
    this.#needs.clients.coordination.off('ready', this.#loadScripts);
    this.#shared.sendAway(closing());
    await this.#local.close();
    for (const call of this.#keeper.live) this.#keeper.letGo(call);
    if (this.#health.isUp) await Promise.allSettled([this.#keeper.sendReleases(), this.#store.leave()]);
  }

  async #decide(asked: Asked): Promise<Admission> {
    for (;;) {
      if (this.#closed) throw closing();
      try {
        const decision = this.#health.isUp ? await this.#askStore(asked) : await this.#askLocally(asked);
        if (!decision.granted && asked.suspected) this.#keeper.takeBack(asked.request);
        return decision;
      } catch (error) {
        asked.suspected ||= error instanceof StoreAway;
        if (error instanceof StoreAway || error instanceof StoreBack) continue;
        if (asked.suspected) this.#keeper.takeBack(asked.request);
        throw error;
      }
    }
  }

  async #askStore(asked: Asked): Promise<Admission> {
    const { request, signal, at, suspected } = asked;
    this.#grants.sendBefore(request);
    const decision = await this.#shared.admit(this.#rest(asked), signal);
    const { kind, rates } = decision;
    if (kind === 'granted') {
      const { fencingToken, shadowRefusals, taken } = decision;
      this.#local.charge(request, this.#health.replicas, taken);
      const budgets = taken.length > 0 ? { taken } : undefined;
      const granted = { rates, fencingToken, shadowRefusals, known: true, suspected, ...budgets };
      return this.#grants.add(request, at, granted);
    }
    if (kind === 'budget')
      return { granted: false, refusedBy: 'budget', rule: decision.rule.name, used: decision.used, rates };
    const { retryAfterMs } = decision;
    return kind === 'rate'
      ? { granted: false, refusedBy: 'rate', rule: decision.rule.name, retryAfterMs, rates }
      : { granted: false, refusedBy: 'concurrency', rule: decision.rule.key, retryAfterMs, rates };
  }

  async #askLocally(asked: Asked): Promise<Admission> {
    const { request, signal, at, suspected } = asked;
    const decision = await this.#local.admit(this.#rest(asked), this.#health.replicas, signal);
    if (!decision.granted) return decision;
    const { rates, shadowRefusals, taken } = decision;
    const degraded = degradedLimits(request);
    const budgets = taken === undefined ? undefined : { taken };
    const granted = { rates, shadowRefusals, degraded, known: false, suspected, ...budgets };
    return this.#grants.add(request, at, granted);
  }

  /** With what is left of its waiting time, for a call that had begun to wait elsewhere. */
  #rest({ request, at }: Asked): AdmissionRequest {
    const waitedMs = this.#needs.clock.now() - at;
    if (waitedMs <= 0) return request;
    const leases = request.leases.map((rule) => ({
      ...rule,
      maxWaitMs: Math.max(0, rule.maxWaitMs - waitedMs),
    }));
    return { ...request, leases };
  }

  #changed(isUp: boolean): void {
    if (isUp) {
      this.#local.end();
      return;
    }
    this.#local.begin(this.#keeper.live);
    this.#shared.sendAway(new StoreAway('the store of the limits does not answer'));
  }

  #listen(replica: string): void {
    const heard = (message: string) => {
      const space = message.indexOf(' ');
      // Its own releases it has followed up already.
      if (message.slice(0, space) !== replica) this.#shared.wakeNamed(message.slice(space + 1));
    };
    const deaf = 'places that other replicas free are not heard of: the queues go by their timers';
    this.#needs.clients.hear(this.#store.channel, heard, deaf);
  }

  readonly #loadScripts = () => {
    this.#store.loadScripts().catch(() => undefined);
  };
}
