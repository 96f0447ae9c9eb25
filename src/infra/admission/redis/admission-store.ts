// AdmissionStore: what admission asks of Redis, in its own words: one script for each kind of question, keys and replies kept in here.
import { createHash } from 'node:crypto';
import type { LeaseRule } from '../../../ports/admission-control.ts';
import { GIVE_BACK, RELEASE, RENEW } from './admission-lua.ts';
import { ADMIT } from './admit-lua.ts';
import { questionOf, type AdmitQuestion } from './admit-question.ts';
import type { AdmitReply } from './admit-reply.ts';
import { GatheredQuestions } from './gathered-questions.ts';
import { gatherWrites } from '../../redis/gather-writes.ts';
import type { RedisClients } from '../../redis/redis-clients.ts';
import { RedisScript } from '../../redis/redis-script.ts';
import { RedisTime } from '../../redis/redis-time.ts';

export interface HeldLease {
  readonly rule: LeaseRule;
  readonly callId: string;
  /** The store need not know it. */
  readonly isNew: boolean;
}

export type RenewOutcome = 'kept' | 'taken_again' | 'lost';

export interface RenewReply {
  /** Empty: the store has lost it. */
  readonly epoch: string;
  readonly replicas: number;
  readonly outcomes: readonly RenewOutcome[];
}

/** A slot that is given back, or without `callId` a turn in the queue for one. */
export interface Release {
  readonly key: string;
  readonly callId?: string;
}

export interface StoreTimes {
  readonly leaseTtlMs: number;
  /** Without a sign of life, a waiting replica loses its turn after this time. */
  readonly silentMs: number;
  readonly replicaTtlMs: number;
}

const LONGEST_NAME = 200;
const LATE_AT_MOST = 3;
const OUTCOMES = { 0: 'lost', 1: 'kept', 2: 'taken_again' } as const;

export class AdmissionStore {
  readonly channel: string;
  readonly #clients: RedisClients;
  readonly #replica: string;
  readonly #times: StoreTimes;
  readonly #time: RedisTime;
  readonly #admit = new RedisScript(ADMIT);
  readonly #renew = new RedisScript(RENEW);
  readonly #release = new RedisScript(RELEASE);
  readonly #giveBack = new RedisScript(GIVE_BACK);
  readonly #questions: GatheredQuestions;

  constructor(clients: RedisClients, replica: string, times: StoreTimes) {
    this.#clients = clients;
    this.#replica = replica;
    this.#times = times;
    // A command is repeated once.
    this.#time = new RedisTime(2 * clients.commandTimeoutMs);
    this.channel = this.#key('released');
    const { leaseTtlMs, silentMs } = times;
    this.#questions = new GatheredQuestions(
      (epoch, { keys, args, count }) =>
        this.#runInTime(
          this.#admit,
          [this.#key('epoch'), this.#key('fence'), ...keys],
          [epoch, replica, leaseTtlMs, silentMs, count, ...args],
        ),
      (task) => gatherWrites(clients.coordination, task),
    );
  }

  async loadScripts(): Promise<void> {
    const { coordination } = this.#clients;
    await Promise.all(
      [this.#admit, this.#renew, this.#release, this.#giveBack].map((script) => script.load(coordination)),
    );
  }

  /** Together with the other questions of this turn of the event loop. */
  admit(question: AdmitQuestion): Promise<AdmitReply> {
    const asked = questionOf(question, (kind, key) => this.#key(kind, key), this.#times.leaseTtlMs);
    return this.#questions.ask(question, asked);
  }

  /** With `join`, a store that has no epoch gets one: it is new, or has lost everything. */
  async renew(epoch: string, leases: readonly HeldLease[], join?: string): Promise<RenewReply> {
    const { leaseTtlMs, replicaTtlMs } = this.#times;
    const keys = [this.#key('epoch'), this.#key('replicas')];
    const args = [epoch, join ?? '', this.#replica, leaseTtlMs, replicaTtlMs];
    for (const { rule, callId, isNew } of leases) {
      keys.push(this.#key('lease', rule.key));
      args.push(callId, rule.limit, isNew ? 1 : 0);
    }
    const sentAt = performance.now();
    const reply = await this.#runInTime(this.#renew, keys, args);
    const [found, redisMs, replicas, ...outcomes] = reply as RawRenewal;
    this.#time.observe(redisMs, sentAt);
    return { epoch: found, replicas, outcomes: outcomes.map((outcome) => OUTCOMES[outcome]) };
  }

  async release(items: readonly Release[]): Promise<void> {
    const byLease = Map.groupBy(items, ({ key }) => key);
    const keys: string[] = [];
    const args: (string | number)[] = [this.channel, this.#replica, byLease.size];
    for (const [key, ofLease] of byLease) {
      const ended = ofLease.flatMap(({ callId }) => callId ?? []);
      keys.push(this.#key('lease', key), this.#key('turns', key), this.#key('beats', key));
      for (const callId of ended) keys.push(this.#key('call', callId));
      args.push(nameOf(key), ended.length < ofLease.length ? 1 : 0, ended.length, ...ended);
    }
    await this.#run(this.#release, keys, args);
  }

  /** Once: what is not told is not given back. */
  async giveBack(amounts: ReadonlyMap<string, number>): Promise<void> {
    const keys = [...amounts.keys()].map((key) => this.#key('budget', key));
    await this.#giveBack.run(this.#clients.coordination, keys, [...amounts.values()]);
  }

  async spent(budgets: readonly string[]): Promise<readonly number[]> {
    if (budgets.length === 0) return [];
    const keys = budgets.map((key) => this.#key('budget', key));
    return (await this.#clients.coordination.mget(keys)).map((used) => Number(used ?? 0));
  }

  /** This replica is not there any more: the others' shares grow. */
  async leave(): Promise<void> {
    await this.#clients.coordination.zrem(this.#key('replicas'), this.#replica);
  }

  /**
   * What takes slots is not to be done once this replica has given up: a Redis that was paused does at its wake all that
   * it was sent. An answer that comes in time and says that it was too late tells of a clock that was set.
   */
  async #runInTime(
    script: RedisScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      const sentAt = performance.now();
      const reply = await this.#run(script, keys, [this.#time.worthUntil(), ...args]);
      const [word, redisMs] = reply as readonly [unknown, unknown];
      if (word !== 'late' || typeof redisMs !== 'number') return reply;
      this.#time.observe(redisMs, sentAt);
      if (tries === LATE_AT_MOST) throw new Error('the clock of Redis keeps running away');
    }
  }

  /** Each script may run twice: an answer that came while this process was busy elsewhere is asked for again. */
  async #run(
    script: RedisScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const { coordination } = this.#clients;
    try {
      return await script.run(coordination, keys, args);
    } catch (error) {
      if (!(error instanceof Error) || error.message !== 'Command timed out') throw error;
      return script.run(coordination, keys, args);
    }
  }

  #key(kind: string, key = ''): string {
    const own = `${this.#clients.prefixOf('limits')}:${kind}`;
    return key === '' ? own : `${own}:${nameOf(key)}`;
  }
}

/** Ids of callers are part of keys: whatever their length, a key of Redis stays short. */
export function nameOf(key: string): string {
  return key.length <= LONGEST_NAME ? key : createHash('sha256').update(key).digest('hex');
}

/** The epoch, the time of Redis in ms, how many replicas there are, and of each lease what became of it. */
type RawRenewal = readonly [string, number, number, ...(keyof typeof OUTCOMES)[]];
