// LeaseKeeper: who is renewed when, who is told that it has lost its lease, and what is given back.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AdmissionRequest, LeaseRule } from '../../../ports/admission-control.ts';
import type { AdmissionStore, HeldLease, Release, RenewOutcome, RenewReply } from './admission-store.ts';
import { LeaseKeeper } from './lease-keeper.ts';

const TTL_MS = 30_000;
const TICK_MS = 1_000;
const EPOCH = 'e1';

/** Keeps the leases it is asked about as the store does, answers as the test says, and fails where it says so. */
class StoreDouble implements Pick<AdmissionStore, 'renew' | 'release'> {
  readonly renewed: HeldLease[][] = [];
  readonly released: Release[][] = [];
  readonly outcomes = new Map<string, RenewOutcome>();
  epoch = EPOCH;
  isAway = false;
  whileRenewing: () => void = () => undefined;

  async renew(_epoch: string, leases: readonly HeldLease[]): Promise<RenewReply> {
    if (this.isAway) throw new Error('no answer');
    this.renewed.push([...leases]);
    this.whileRenewing();
    const outcomes = leases.map(({ callId }) => this.outcomes.get(callId) ?? 'kept');
    return { epoch: this.epoch, replicas: 1, outcomes };
  }

  async release(releases: readonly Release[]): Promise<void> {
    if (this.isAway) throw new Error('no answer');
    this.released.push([...releases]);
  }
}

function rule(changes: Partial<LeaseRule> = {}): LeaseRule {
  return { key: 'tool', limit: 5, maxQueue: 0, maxWaitMs: 0, ...changes };
}

function asking(callId: string, ...leases: readonly LeaseRule[]): AdmissionRequest {
  return { callId, fairnessKey: 'acme', rates: [], leases: leases.length > 0 ? leases : [rule()] };
}

function setUp() {
  const store = new StoreDouble();
  const told = { lost: 0, toRelease: 0 };
  const keeper = new LeaseKeeper({
    store: store as unknown as AdmissionStore,
    leaseTtlMs: TTL_MS,
    tickMs: TICK_MS,
    random: () => 0.5,
    lost: { add: () => void (told.lost += 1) },
    onRelease: () => void (told.toRelease += 1),
  });
  const renewedIds = () => store.renewed.map((batch) => batch.map(({ callId }) => callId));
  const releasedIds = () => store.released.flat().map(({ callId }) => callId);
  return { store, keeper, told, renewedIds, releasedIds };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTime(ms);

describe('a lease that the store has granted', () => {
  it('is renewed after a third of its time, not sooner and not again at once', async () => {
    const { keeper, renewedIds } = setUp();
    keeper.hold(asking('a'), true, false);
    pass(TTL_MS / 3 - 1);
    await keeper.renew(EPOCH);
    pass(1);
    await keeper.renew(EPOCH);
    await keeper.renew(EPOCH);
    expect(renewedIds()).toEqual([[], ['a'], []]);
  });

  it('is not new to the store; one that was let in without it is, and is told of at once', async () => {
    const { keeper, store } = setUp();
    keeper.hold(asking('granted'), true, false);
    keeper.hold(asking('local'), false, false);
    await keeper.renew(EPOCH);
    expect(store.renewed).toMatchObject([[{ callId: 'local', isNew: true }]]);
    await keeper.renew(EPOCH, true);
    expect(store.renewed[1]).toMatchObject([
      { callId: 'granted', isNew: false },
      { callId: 'local', isNew: false },
    ]);
  });

  it('that the store says is lost is told to the call, once, however late it listens', async () => {
    const { keeper, store, told } = setUp();
    const heard: string[] = [];
    const early = keeper.hold(asking('early'), true, false);
    const late = keeper.hold(asking('late'), true, false);
    keeper.whenLost(early, () => heard.push('early'));
    for (const callId of ['early', 'late']) store.outcomes.set(callId, 'lost');
    for (let round = 0; round < 2; round += 1) await keeper.renew(EPOCH, true);
    keeper.whenLost(late, () => heard.push('late'));
    expect(heard).toEqual(['early', 'late']);
    expect(told.lost).toBe(2);
  });

  it('of a call that ends while it is renewed is taken away again: it would hold a place of nobody', async () => {
    const { keeper, store, releasedIds } = setUp();
    const call = keeper.hold(asking('a'), true, false);
    store.whileRenewing = () => keeper.letGo(call);
    await keeper.renew(EPOCH, true);
    await keeper.sendReleases();
    expect(releasedIds()).toEqual(['a', 'a']);
    expect(keeper.size).toBe(0);
  });

  it('counts as renewed from when the store was asked, not from when it answered', async () => {
    const { keeper, store } = setUp();
    const call = keeper.hold(asking('a', rule({ onStoreFailure: 'closed' })), true, false);
    store.whileRenewing = () => pass(TTL_MS);
    await keeper.renew(EPOCH, true);
    keeper.loseUnrenewed();
    expect(call.lost).toBe(true);
  });
});

describe('a store that is silent', () => {
  it('costs a call that may not run without it its lease, before others may have the place; and no other call', () => {
    const { keeper, told } = setUp();
    const strict = keeper.hold(asking('strict', rule({ onStoreFailure: 'closed' })), true, false);
    const local = keeper.hold(asking('local', rule()), true, false);
    pass(TTL_MS - 2 * TICK_MS);
    keeper.loseUnrenewed();
    expect([strict.lost, local.lost]).toEqual([false, false]);
    pass(1);
    keeper.loseUnrenewed();
    keeper.loseUnrenewed();
    expect([strict.lost, local.lost]).toEqual([true, false]);
    expect(told.lost).toBe(1);
  });

  it('gets what was to be given back later, in order, as long as it is worth telling', async () => {
    const { keeper, store, releasedIds } = setUp();
    store.isAway = true;
    keeper.letGo(keeper.hold(asking('old'), true, false));
    await expect(keeper.sendReleases()).rejects.toThrow('no answer');
    pass(TTL_MS / 2);
    keeper.letGo(keeper.hold(asking('young'), true, false));
    await expect(keeper.sendReleases()).rejects.toThrow('no answer');
    pass(TTL_MS / 2);
    store.isAway = false;
    await keeper.sendReleases();
    await keeper.sendReleases();
    // The lease of the old one has run out by itself.
    expect(releasedIds()).toEqual(['young']);
  });
});

describe('what is given back', () => {
  it('is told of once, and only where the store may have it', async () => {
    const { keeper, told, releasedIds } = setUp();
    for (const [callId, known, suspected] of [
      ['known', true, false],
      ['suspected', false, true],
      ['local', false, false],
    ] as const)
      keeper.letGo(keeper.hold(asking(callId), known, suspected));
    await keeper.sendReleases();
    await keeper.sendReleases();
    expect(releasedIds()).toEqual(['known', 'suspected']);
    expect(told.toRelease).toBe(2);
  });

  it('names each key of a call', async () => {
    const { keeper, store } = setUp();
    keeper.letGo(keeper.hold(asking('a', rule({ key: 'tool' }), rule({ key: 'tenant' })), true, false));
    await keeper.sendReleases();
    expect(store.released).toEqual([
      [
        { key: 'tool', callId: 'a' },
        { key: 'tenant', callId: 'a' },
      ],
    ]);
  });

  it('holds no turn of a line in which somebody stands again', async () => {
    const { keeper, store } = setUp();
    for (const key of ['left', 'kept']) keeper.giveUpTurn(key);
    keeper.keepTurn('kept');
    await keeper.sendReleases();
    expect(store.released).toEqual([[{ key: 'left' }]]);
  });

  it('goes in batches; those behind one that fails are kept', async () => {
    const { keeper, store } = setUp();
    for (let at = 0; at < 1_200; at += 1) keeper.letGo(keeper.hold(asking(`c${at}`), true, false));
    const release = store.release.bind(store);
    store.release = async (releases) => {
      if (store.released.length === 1) store.isAway = true;
      await release(releases);
    };
    await expect(keeper.sendReleases()).rejects.toThrow('no answer');
    store.isAway = false;
    store.release = release;
    await keeper.sendReleases();
    const told = store.released.flat().map(({ callId }) => callId);
    expect(store.released.map((batch) => batch.length)).toEqual([500, 500, 200]);
    expect(new Set(told).size).toBe(1_200);
  });
});

describe('a store that is back', () => {
  it('is told of everything before it is used; to one that has lost everything, every lease is new', async () => {
    const { keeper, store } = setUp();
    keeper.hold(asking('a'), true, false);
    keeper.hold(asking('b'), true, false);
    await keeper.tellAll(EPOCH, true);
    expect(store.renewed.flat().map(({ callId, isNew }) => [callId, isNew])).toEqual([
      ['a', true],
      ['b', true],
    ]);
    await keeper.tellAll(EPOCH, false);
    expect(store.renewed.at(-1)).toMatchObject([{ isNew: false }, { isNew: false }]);
  });

  it('that has become another one meanwhile confirms nothing, and gets no more batches', async () => {
    const { keeper, store } = setUp();
    for (let at = 0; at < 700; at += 1) keeper.hold(asking(`c${at}`), false, false);
    store.epoch = 'another';
    await keeper.renew(EPOCH, true);
    expect(store.renewed).toHaveLength(1);
    expect([...keeper.live].some(({ known }) => known)).toBe(false);
  });
});
