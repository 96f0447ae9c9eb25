// The life of a call as a state machine: whatever owners, leases and cancellations do, it has one end, by whoever held it.
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseCallStore } from '../../../src/infra/calls/call-store.ts';
import type { Database } from '../../../src/infra/postgres/database.ts';
import type { CallStatus, CallStore, Claim } from '../../../src/ports/calls/call-store.ts';
import { ACME, claimOf, DAY_MS, endAs, LEASE_MS, leasesEnd, newCall } from '../../helpers/async-kit.ts';
import { DATABASES, type TestDatabase } from '../../helpers/databases.ts';

const OWNERS = 3;

type Step =
  | { readonly do: 'claim' | 'finish' | 'renew' | 'giveBack'; readonly who: number }
  | { readonly do: 'expire' | 'sweep' | 'cancel' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom('claim' as const, 'finish' as const, 'renew' as const, 'giveBack' as const),
    who: fc.nat(OWNERS - 1),
  }),
  fc.record({ do: fc.constantFrom('expire' as const, 'sweep' as const, 'cancel' as const) }),
);

/** One call under many hands, and what ought to be true of it. */
class Life {
  /** What should not have happened. */
  readonly broken: string[] = [];
  runs = 0;
  ends = 0;
  readonly #store: CallStore;
  readonly #database: Database;
  readonly #id: string;
  readonly #claims = new Map<number, Claim>();
  #holder: number | undefined;

  constructor(store: CallStore, database: Database, id: string) {
    this.#store = store;
    this.#database = database;
    this.#id = id;
  }

  async live(steps: readonly Step[]): Promise<void> {
    for (const each of steps) {
      const before = await this.#status();
      await this.#take(each, before);
      const after = await this.#status();
      if (isEnd(before) && after !== before) this.#breaks(`${each.do} turned ${before} into ${after}`);
      if (!isEnd(before) && isEnd(after)) this.ends += 1;
      if (after !== 'running') this.#holder = undefined;
    }
  }

  async #take(each: Step, before: CallStatus): Promise<void> {
    if (!('who' in each)) return this.#happen(each.do);
    if (each.do === 'claim') return this.#claim(each.who, before);
    const claim = this.#claims.get(each.who);
    if (claim === undefined) return;
    const worked = await this.#use(each.do, claim);
    const mayWork = before === 'running' && this.#holder === each.who;
    if (worked !== mayWork) this.#breaks(`${each.do} by ${each.who} of a ${before} call: ${worked}`);
    // The owner itself says that nothing was done.
    if (each.do === 'giveBack' && worked) this.runs -= 1;
  }

  async #happen(what: 'expire' | 'sweep' | 'cancel'): Promise<void> {
    if (what === 'expire') await leasesEnd(this.#database);
    else if (what === 'sweep') await this.#store.sweep(3);
    else await this.#store.cancel(ACME, this.#id);
  }

  async #claim(who: number, before: CallStatus): Promise<void> {
    const claim = await claimOf(this.#store, this.#id, String(who));
    if ((claim !== undefined) !== (before === 'queued')) this.#breaks(`claim of a ${before} call`);
    if (claim === undefined) return;
    this.#claims.set(who, claim);
    this.#holder = who;
    this.runs += 1;
  }

  async #use(what: 'finish' | 'renew' | 'giveBack', claim: Claim): Promise<boolean> {
    if (what === 'finish') return this.#store.finish(claim, endAs('succeeded'));
    if (what === 'giveBack') return this.#store.giveBack(claim, 0);
    return (await this.#store.renew([claim], LEASE_MS)).length === 1;
  }

  async #status(): Promise<CallStatus> {
    return (await this.#store.get(ACME, this.#id))?.status ?? 'failed';
  }

  #breaks(what: string): void {
    this.broken.push(what);
  }
}

function isEnd(status: CallStatus): boolean {
  return status !== 'queued' && status !== 'running';
}

describe.each(DATABASES)('the life of a call on %s', (_name, open) => {
  let opened: TestDatabase;
  let database: Database;
  let store: CallStore;

  beforeAll(async () => {
    opened = await open();
    database = await opened.database.opened();
    store = databaseCallStore(database, DAY_MS);
  });
  afterAll(() => opened.end());

  it('has one end, written by whoever held it, and one run where more would do harm', async () => {
    const property = fc.asyncProperty(
      fc.boolean(),
      fc.array(step, { maxLength: 14 }),
      async (idempotent, steps) => {
        const call = newCall({ idempotent });
        await store.accept(call, 1_000);
        const life = new Life(store, database, call.id);
        await life.live(steps);
        expect(life.broken).toEqual([]);
        expect(life.ends).toBeLessThanOrEqual(1);
        expect(life.runs).toBeLessThanOrEqual(idempotent ? OWNERS + steps.length : 1);
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });
});
