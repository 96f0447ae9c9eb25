// What every IdempotencyStore must keep, whatever database is below.
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  IdempotencyStore,
  KeyClaim,
  KeyScope,
  StoredOutcome,
} from '../../../src/ports/idempotency-store.ts';

export interface IdempotencyHarness {
  readonly store: IdempotencyStore;
  end(): Promise<void>;
}

const DONE: StoredOutcome = { ok: true, dataJson: '{"sent":1.0}', intents: [] };
const LONG_MS = 60_000;

export function describeIdempotencyStore(name: string, start: () => Promise<IdempotencyHarness>): void {
  describe(`IdempotencyStore on ${name}`, () => {
    let harness: IdempotencyHarness;
    let store: IdempotencyStore;

    beforeAll(async () => {
      harness = await start();
      ({ store } = harness);
    });
    afterAll(() => harness.end());

    const newScope = (): KeyScope => ({
      tenantId: 'acme',
      principalId: 'key1',
      tool: 'send',
      key: randomUUID(),
      callerHash: '',
    });
    const newClaim = (changes: Partial<KeyClaim> = {}): KeyClaim => ({
      callId: randomUUID(),
      fingerprint: 'f',
      mayRunAgain: false,
      leaseMs: LONG_MS,
      keepMs: LONG_MS,
      ...changes,
    });

    it('gives a key to one of many that begin at once, and tells the others who has it', async () => {
      const scope = newScope();
      const claims = Array.from({ length: 12 }, () => newClaim());
      const states = await Promise.all(claims.map((claim) => store.begin(scope, claim)));
      const owners = claims.filter((_, index) => states[index]?.state === 'mine');
      expect(owners).toHaveLength(1);
      const others = states.filter(({ state }) => state !== 'mine');
      expect(others).toHaveLength(11);
      for (const other of others) expect(other).toEqual({ state: 'in_flight', callId: owners[0]?.callId });
    });

    it('gives the outcome back as it was, byte for byte', async () => {
      const scope = newScope();
      const claim = newClaim();
      expect(await store.begin(scope, claim)).toEqual({ state: 'mine', attempt: 1 });
      expect(await store.end({ ...scope, callId: claim.callId }, DONE)).toBe(true);
      expect(await store.begin(scope, newClaim())).toEqual({
        state: 'ended',
        callId: claim.callId,
        outcome: DONE,
      });
    });

    it('tells another payload under a used key, under way and ended', async () => {
      const scope = newScope();
      const claim = newClaim();
      await store.begin(scope, claim);
      expect(await store.begin(scope, newClaim({ fingerprint: 'g' }))).toEqual({ state: 'other_payload' });
      await store.end({ ...scope, callId: claim.callId }, DONE);
      expect(await store.begin(scope, newClaim({ fingerprint: 'g' }))).toEqual({ state: 'other_payload' });
    });

    it('keeps tenants, credentials, tools and whom they are called for apart', async () => {
      const scope = newScope();
      const neighbours = [
        scope,
        { ...scope, tenantId: 'umbrella' },
        { ...scope, principalId: 'key2' },
        { ...scope, tool: 'other' },
        { ...scope, callerHash: 'ann' },
        { ...scope, callerHash: 'bob' },
      ];
      for (const each of neighbours)
        expect(await store.begin(each, newClaim())).toEqual({ state: 'mine', attempt: 1 });
    });

    it('frees a key whose call was not run', async () => {
      const scope = newScope();
      const claim = newClaim();
      await store.begin(scope, claim);
      await store.release({ ...scope, callId: claim.callId });
      expect(await store.begin(scope, newClaim())).toEqual({ state: 'mine', attempt: 1 });
    });

    it('a call that asks again, because it was not told that it has the key, has it', async () => {
      const scope = newScope();
      const claim = newClaim();
      expect(await store.begin(scope, claim)).toEqual({ state: 'mine', attempt: 1 });
      expect(await store.begin(scope, claim)).toEqual({ state: 'mine', attempt: 1 });
      expect(await store.begin(scope, newClaim())).toEqual({ state: 'in_flight', callId: claim.callId });
      await store.end({ ...scope, callId: claim.callId }, DONE);
      expect(await store.begin(scope, claim)).toMatchObject({ state: 'ended' });
    });

    it('frees a key whose call was not run, also where its owner was taken for dead, and no ended one', async () => {
      const scope = newScope();
      const silent = newClaim({ leaseMs: 0 });
      await store.begin(scope, silent);
      expect(await store.begin(scope, newClaim())).toMatchObject({ state: 'unknown' });
      expect(await store.release({ ...scope, callId: randomUUID() })).toBe(false);
      expect(await store.release({ ...scope, callId: silent.callId })).toBe(true);
      const next = newClaim();
      expect(await store.begin(scope, next)).toEqual({ state: 'mine', attempt: 1 });
      await store.end({ ...scope, callId: next.callId }, DONE);
      expect(await store.release({ ...scope, callId: next.callId })).toBe(false);
      expect(await store.begin(scope, newClaim())).toMatchObject({ state: 'ended' });
    });

    it('after the death of its owner, a call that may run again does, and the late owner cannot end it', async () => {
      const scope = newScope();
      const dead = newClaim({ leaseMs: 0, mayRunAgain: true });
      await store.begin(scope, dead);
      const next = newClaim({ mayRunAgain: true });
      expect(await store.begin(scope, next)).toEqual({ state: 'mine', attempt: 2 });
      expect(await store.end({ ...scope, callId: dead.callId }, DONE)).toBe(false);
      expect(await store.end({ ...scope, callId: next.callId }, DONE)).toBe(true);
    });

    it('after the death of its owner, the outcome of any other call is unknown, and stays so', async () => {
      const scope = newScope();
      const dead = newClaim({ leaseMs: 0 });
      await store.begin(scope, dead);
      expect(await store.begin(scope, newClaim())).toEqual({ state: 'unknown', callId: dead.callId });
      // Somebody was told so already.
      expect(await store.end({ ...scope, callId: dead.callId }, DONE)).toBe(false);
      expect(await store.begin(scope, newClaim())).toEqual({ state: 'unknown', callId: dead.callId });
    });

    it('an owner that gives signs of life is not taken for dead', async () => {
      const scope = newScope();
      const claim = newClaim({ leaseMs: 0 });
      await store.begin(scope, claim);
      await store.renew([{ ...scope, callId: claim.callId }], LONG_MS);
      expect(await store.begin(scope, newClaim())).toEqual({ state: 'in_flight', callId: claim.callId });
    });

    it('forgets a key when its time is over, and not before', async () => {
      const [old, young] = [newScope(), newScope()];
      for (const [scope, keepMs] of [
        [old, 0],
        [young, LONG_MS],
      ] as const) {
        const claim = newClaim({ keepMs });
        await store.begin(scope, claim);
        await store.end({ ...scope, callId: claim.callId }, DONE);
      }
      expect(await store.begin(old, newClaim({ fingerprint: 'g', keepMs: 0, leaseMs: 0 }))).toMatchObject({
        state: 'mine',
      });
      expect((await store.begin(young, newClaim())).state).toBe('ended');
    });

    it('under any history a call that may not run again has one owner, or one more after each that was freed', async () => {
      const steps = fc.array(fc.constantFrom('begin', 'begin and die', 'release', 'renew', 'end'), {
        minLength: 2,
        maxLength: 12,
      });
      await fc.assert(
        fc.asyncProperty(steps, async (history) => {
          const scope = newScope();
          const owners: string[] = [];
          let freed = 0;
          for (const step of history) {
            const held = { ...scope, callId: owners.at(-1) ?? 'nobody' };
            if (step === 'release') {
              await store.release(held);
              // Free again if somebody else can have it.
              const probe = newClaim();
              const { state } = await store.begin(scope, probe);
              if (state === 'mine') await store.release({ ...scope, callId: probe.callId });
              freed = state === 'mine' ? owners.length : freed;
            } else if (step === 'renew') {
              await store.renew([held], LONG_MS);
            } else if (step === 'end') {
              await store.end(held, DONE);
            } else {
              const claim = newClaim({ leaseMs: step === 'begin' ? LONG_MS : 0 });
              const { state } = await store.begin(scope, claim);
              if (state === 'mine') owners.push(claim.callId);
            }
            expect(owners.length - freed).toBeLessThanOrEqual(1);
          }
        }),
        { numRuns: 40 },
      );
    });
  });
}
