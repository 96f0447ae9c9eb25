// What every ApprovalStore must keep, whatever it is made of.
import { createHash, randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalStore, NewApproval, Redemption } from '../../../src/ports/approvals/approval-store.ts';

export interface ApprovalHarness {
  readonly store: ApprovalStore;
  /** The store's own time, epoch milliseconds. */
  now(): number;
  /** Lets time pass without waiting: a fake clock goes on, or what is stored gets older. */
  pass(ms: number): Promise<void>;
  close?(): Promise<void>;
}

/** Long against what a test takes. */
const TTL_MS = 60_000;

/** `numRuns`: histories that the state machine is tried with. */
export function describeApprovalStore(
  name: string,
  factory: () => Promise<ApprovalHarness>,
  numRuns = 60,
): void {
  describe(`ApprovalStore: ${name}`, () => {
    let harness: ApprovalHarness;
    let store: ApprovalStore;
    /** A tenant of its own for each test: a twin may share its store between tests. */
    let acme: string;

    beforeEach(async () => {
      harness = await factory();
      store = harness.store;
      acme = `acme-${randomUUID()}`;
      return () => harness.close?.();
    });

    function newApproval(changes: Partial<NewApproval> = {}): NewApproval {
      const now = harness.now();
      return {
        id: randomUUID(),
        tenantId: acme,
        tool: 'send_email',
        toolVersion: '1.0.0',
        toolHash: 'tool-hash',
        argumentsHash: 'ab'.repeat(32),
        arguments: { to: 'ann@example.com' },
        riskLevel: 'high',
        requestedBy: 'key-1',
        requestedByUser: '',
        agentId: 'agent-1',
        userId: 'user-1',
        sessionId: 'session-1',
        quorum: 1,
        approverGroups: [],
        createdAt: now,
        expiresAt: now + TTL_MS,
        tokenHash: createHash('sha256').update(randomUUID()).digest('hex'),
        ...changes,
      };
    }

    /** A new approval, decided as said. */
    async function stored(
      decision: 'undecided' | 'approved' | 'rejected' = 'undecided',
    ): Promise<NewApproval> {
      const approval = newApproval();
      await store.create(approval);
      if (decision !== 'undecided') {
        await store.decide(acme, approval.id, { approve: decision === 'approved', by: 'boss' });
      }
      return approval;
    }

    describe('asking', () => {
      it('keeps what was asked as pending, without the token', async () => {
        const approval = newApproval();
        const { tokenHash, ...asked } = approval;
        const created = await store.create(approval);
        // By the store's own time.
        const { expiresAt } = created;
        const pending = { ...asked, expiresAt, votes: [], status: 'pending' };
        expect(created).toEqual(pending);
        expect(await store.get(acme, approval.id)).toEqual(pending);
        expect(JSON.stringify(await store.list(acme, { limit: 10 }))).not.toContain(tokenHash);
      });

      it('lists the newest first, filtered by status, no more than asked for', async () => {
        const now = harness.now();
        const ids = [];
        for (let index = 0; index < 4; index += 1) {
          const { id } = await store.create(newApproval({ createdAt: now + index }));
          ids.unshift(id);
        }
        await store.decide(acme, ids[1] ?? '', { approve: true, by: 'boss' });
        const idsOf = async (filter: Parameters<ApprovalStore['list']>[1]) =>
          (await store.list(acme, filter)).map(({ id }) => id);
        expect(await idsOf({ limit: 10 })).toEqual(ids);
        expect(await idsOf({ limit: 2 })).toEqual(ids.slice(0, 2));
        expect(await idsOf({ status: 'pending', limit: 2 })).toEqual([ids[0], ids[2]]);
        expect(await idsOf({ status: 'approved', limit: 10 })).toEqual([ids[1]]);
        expect(await idsOf({ status: 'used', limit: 10 })).toEqual([]);
        // What was asked at one moment is parted by its id.
        const same = [
          await store.create(newApproval({ createdAt: now })),
          await store.get(acme, ids[3] ?? ''),
        ];
        const [second, first] = same.map((each) => each?.id ?? '').toSorted();
        expect(await idsOf({ limit: 10, after: { at: now + 1, id: ids[2] ?? '' } })).toEqual([first, second]);
        expect(await idsOf({ limit: 10, after: { at: now, id: first ?? '' } })).toEqual([second]);
        expect(await idsOf({ limit: 10, after: { at: now, id: second ?? '' } })).toEqual([]);
      });

      it("shows nothing of another tenant's, not even that it exists", async () => {
        const approval = await stored('approved');
        expect(await store.get('globex', approval.id)).toBeUndefined();
        expect(await store.list('globex', { limit: 10 })).toEqual([]);
        expect(await store.decide('globex', approval.id, { approve: false, by: 'spy' })).toBeUndefined();
        const foreign = await store.redeem({ ...approval, tenantId: 'globex' });
        expect(foreign).toEqual({ redeemed: false, why: 'unknown' });
        expect(await store.redeem(approval)).toMatchObject({ redeemed: true });
      });

      it('knows no id and no token that it did not give', async () => {
        expect(await store.get(acme, randomUUID())).toBeUndefined();
        expect(await store.decide(acme, randomUUID(), { approve: true, by: 'boss' })).toBeUndefined();
        expect(await store.redeem(newApproval())).toEqual({ redeemed: false, why: 'unknown' });
      });
    });

    describe('deciding', () => {
      it('records who decided, when and why', async () => {
        const { id } = await stored();
        const decision = { approve: false, by: 'boss', comment: 'not on a Friday' };
        const result = await store.decide(acme, id, decision);
        expect(result).toMatchObject({
          outcome: 'decided',
          approval: { status: 'rejected', decidedBy: 'boss', comment: 'not on a Friday' },
        });
        expect(Math.abs((result?.approval.decidedAt ?? 0) - harness.now())).toBeLessThan(5_000);
        expect(await store.get(acme, id)).toEqual(result?.approval);
      });

      it('answers the same decision again with the first one, and the opposite with a conflict', async () => {
        const { id } = await stored('approved');
        const again = await store.decide(acme, id, { approve: true, by: 'deputy' });
        expect(again).toMatchObject({
          outcome: 'decided',
          approval: { status: 'approved', decidedBy: 'boss' },
        });
        const opposite = await store.decide(acme, id, { approve: false, by: 'deputy' });
        expect(opposite).toMatchObject({
          outcome: 'conflict',
          approval: { status: 'approved', decidedBy: 'boss' },
        });
      });

      it('keeps what the call would do, who may approve it, and how many of them', async () => {
        const more = { would: { argv: ['rm', '\u0000'] }, approverGroups: ['finance', 'it'], quorum: 3 };
        const { id } = await store.create(newApproval(more));
        expect(await store.get(acme, id)).toMatchObject(more);
      });

      it('waits for as many people as it needs, and counts nobody twice', async () => {
        const { id } = await store.create(newApproval({ quorum: 2 }));
        const approve = (by: string, byUser: string) =>
          store.decide(acme, id, { approve: true, by, byUser, comment: `${by} says yes` });
        expect(await approve('key-a', 'ann')).toMatchObject({
          outcome: 'voted',
          approval: { status: 'pending', votes: [{ by: 'key-a', user: 'ann', comment: 'key-a says yes' }] },
        });
        expect(await approve('key-a', 'ann')).toMatchObject({ outcome: 'voted' });
        expect(await approve('key-b', 'ANN ')).toMatchObject({ outcome: 'voted' });
        const after = await store.get(acme, id);
        expect(after).toMatchObject({ status: 'pending', votes: [{ by: 'key-a' }] });
        expect(after).not.toHaveProperty('decidedBy');
        expect(await approve('key-c', 'bob')).toMatchObject({
          outcome: 'decided',
          approval: { status: 'approved', decidedBy: 'key-c', votes: [{ user: 'ann' }, { user: 'bob' }] },
        });
        expect(await store.get(acme, id)).toMatchObject({ status: 'approved' });
      });

      it('counts all who approve at once', async () => {
        const { id } = await store.create(newApproval({ quorum: 5 }));
        const people = ['ann', 'bob', 'cy', 'di', 'ed'];
        await Promise.all(
          people.map((byUser) => store.decide(acme, id, { approve: true, by: `key-${byUser}`, byUser })),
        );
        const { status, votes = [] } = (await store.get(acme, id)) ?? {};
        expect([status, votes.map(({ user = '' }) => user).sort((a, b) => a.localeCompare(b))]).toEqual([
          'approved',
          people,
        ]);
      });

      it('ends with the first rejection, however many have approved', async () => {
        const approval = newApproval({ quorum: 3 });
        const { id } = await store.create(approval);
        await store.decide(acme, id, { approve: true, by: 'key-a', byUser: 'ann' });
        const rejected = await store.decide(acme, id, { approve: false, by: 'key-b', byUser: 'bob' });
        expect(rejected).toMatchObject({ outcome: 'decided', approval: { status: 'rejected' } });
        const late = await store.decide(acme, id, { approve: true, by: 'key-c', byUser: 'cy' });
        expect(late).toMatchObject({ outcome: 'conflict' });
        expect(await store.redeem(approval)).toMatchObject({ redeemed: false, why: 'rejected' });
      });

      it('lets one of two opposite decisions win that come at once', async () => {
        const { id } = await stored();
        const decisions = [true, false].map((approve) =>
          store.decide(acme, id, { approve, by: `${approve}` }),
        );
        const outcomes = (await Promise.all(decisions)).map((result) => result?.outcome);
        expect(outcomes).toHaveLength(2);
        expect(new Set(outcomes)).toEqual(new Set(['decided', 'conflict']));
      });

      it('takes no decision after the time is over', async () => {
        const { id } = await stored();
        await harness.pass(TTL_MS);
        const late = await store.decide(acme, id, { approve: true, by: 'boss' });
        expect(late).toMatchObject({ outcome: 'expired', approval: { status: 'expired' } });
        expect(await store.get(acme, id)).toMatchObject({ status: 'expired' });
        expect(await store.list(acme, { status: 'expired', limit: 10 })).toHaveLength(1);
        expect(await store.list(acme, { status: 'pending', limit: 10 })).toEqual([]);
      });
    });

    describe('redeeming', () => {
      it('is good for one call', async () => {
        const approval = await stored('approved');
        expect(await store.redeem(approval)).toMatchObject({ redeemed: true, approval: { status: 'used' } });
        expect(await store.redeem(approval)).toMatchObject({ redeemed: false, why: 'used' });
        expect(await store.get(acme, approval.id)).toMatchObject({ status: 'used', decidedBy: 'boss' });
      });

      it('lets one of many calls win that redeem at once', async () => {
        const approval = await stored('approved');
        const results = await Promise.all(Array.from({ length: 20 }, () => store.redeem(approval)));
        expect(results.filter(({ redeemed }) => redeemed)).toHaveLength(1);
      });

      it('refuses what is undecided or rejected, and says which', async () => {
        expect(await store.redeem(await stored('undecided'))).toMatchObject({
          redeemed: false,
          why: 'pending',
        });
        expect(await store.redeem(await stored('rejected'))).toMatchObject({
          redeemed: false,
          why: 'rejected',
        });
      });

      it('refuses an approval that was not used in time', async () => {
        const approval = await stored('approved');
        await harness.pass(TTL_MS);
        expect(await store.redeem(approval)).toMatchObject({ redeemed: false, why: 'expired' });
      });

      it.each(['tool', 'argumentsHash', 'requestedBy', 'agentId', 'userId'] as const)(
        'refuses a call with another %s, shows it nothing, and leaves the approval to the right one',
        async (field) => {
          const approval = await stored('approved');
          expect(await store.redeem({ ...approval, [field]: 'another' })).toEqual({
            redeemed: false,
            why: 'other_call',
          });
          expect(await store.redeem(approval)).toMatchObject({ redeemed: true });
        },
      );

      it('refuses when the tool was changed since it was asked for, decided or not', async () => {
        for (const decision of ['undecided', 'approved'] as const) {
          const approval = await stored(decision);
          const changed = await store.redeem({ ...approval, toolHash: 'another' });
          expect(changed).toMatchObject({ redeemed: false, why: 'tool_changed' });
        }
      });
    });

    it('follows the one state machine under any history', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { maxLength: 12 }), async (steps) => {
          const approval = newApproval();
          await store.create(approval);
          const model = new Model();
          for (const step of steps) {
            if (step === 'wait') await harness.pass(TTL_MS / 4);
            const expected = model.take(step);
            expect(await outcomeOf(store, step, approval)).toBe(expected);
          }
        }),
        { numRuns },
      );
    });
  });
}

type Step = 'approve' | 'reject' | 'redeem' | 'redeem_other' | 'redeem_changed' | 'wait';
const anyStep = fc.constantFrom<Step>(
  'approve',
  'reject',
  'redeem',
  'redeem_other',
  'redeem_changed',
  'wait',
);

/** The life of one approval, written down once more in the plainest way. */
class Model {
  #decision: 'none' | 'approved' | 'rejected' = 'none';
  #used = false;
  #quarters = 0;

  take(step: Step): string {
    if (step === 'wait') this.#quarters += 1;
    if (step === 'approve' || step === 'reject')
      return this.#decide(step === 'approve' ? 'approved' : 'rejected');
    if (step === 'redeem_other') return 'other_call';
    if (step === 'redeem' || step === 'redeem_changed') return this.#redeem(step === 'redeem_changed');
    return this.#status();
  }

  #decide(decision: 'approved' | 'rejected'): string {
    if (this.#decision === 'none' && this.#isOver()) return 'expired';
    if (this.#decision === 'none') this.#decision = decision;
    return this.#decision === decision ? 'decided' : 'conflict';
  }

  #redeem(changed: boolean): string {
    const status = this.#status();
    if (status !== 'pending' && status !== 'approved') return status;
    if (changed) return 'tool_changed';
    this.#used = status === 'approved';
    return this.#used ? 'redeemed' : 'pending';
  }

  #status(): string {
    if (this.#used) return 'used';
    if (this.#decision === 'rejected') return 'rejected';
    if (this.#isOver()) return 'expired';
    return this.#decision === 'approved' ? 'approved' : 'pending';
  }

  #isOver(): boolean {
    return this.#quarters >= 4;
  }
}

async function outcomeOf(
  store: ApprovalStore,
  step: Step,
  approval: NewApproval,
): Promise<string | undefined> {
  const { tenantId, id } = approval;
  if (step === 'wait') return (await store.get(tenantId, id))?.status;
  if (step === 'approve' || step === 'reject') {
    return (await store.decide(tenantId, id, { approve: step === 'approve', by: 'boss' }))?.outcome;
  }
  const shown: Redemption = {
    ...approval,
    ...(step === 'redeem_other' && { argumentsHash: 'another' }),
    ...(step === 'redeem_changed' && { toolHash: 'another' }),
  };
  const result = await store.redeem(shown);
  return result.redeemed ? 'redeemed' : result.why;
}
