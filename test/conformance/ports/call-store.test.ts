// CallStore on both databases: who may run a call, and its one end.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { databaseCallStore } from '../../../src/infra/calls/call-store.ts';
import type { Database } from '../../../src/infra/postgres/database.ts';
import { databaseWebhookStore } from '../../../src/infra/webhooks/webhook-store.ts';
import type { CallStore, NewCall } from '../../../src/ports/calls/call-store.ts';
import type { WebhookStore } from '../../../src/ports/calls/webhook-store.ts';
import {
  ACME,
  claimOf,
  DAY_MS,
  endAs,
  forgetCalls,
  LEASE_MS,
  leasesEnd,
  newCall,
  waitingIds,
} from '../../helpers/async-kit.ts';
import { DATABASES, type TestDatabase } from '../../helpers/databases.ts';

const again = (force: boolean) => ({ force, request: '{"again":true}', by: 'boss' });

describe.each(DATABASES)('calls on %s', (_name, open) => {
  let opened: TestDatabase;
  let database: Database;
  let store: CallStore;
  let webhooks: WebhookStore;

  beforeAll(async () => {
    opened = await open();
    database = await opened.database.opened();
    store = databaseCallStore(database, DAY_MS);
    webhooks = databaseWebhookStore(database);
  });
  afterEach(() => forgetCalls(database));
  afterAll(() => opened.end());

  const accepted = async (over: Partial<NewCall> = {}) => {
    const call = newCall(over);
    await store.accept(call, 1_000);
    return call.id;
  };
  const claimed = async (over: Partial<NewCall> = {}) => {
    const id = await accepted(over);
    const claim = await claimOf(store, id, 'a');
    if (claim === undefined) throw new Error('not claimed');
    return claim;
  };
  const statusOf = async (id: string) => (await store.get(ACME, id))?.status;

  it('gives a call to one of many that ask at once', async () => {
    const id = await accepted();
    const claims = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => claimOf(store, id, owner)));
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    expect(await store.get(ACME, id)).toMatchObject({ status: 'running', runs: 1 });
  });

  it('gives a call that is accepted with a claim to its owner, and to nobody else while the lease lasts', async () => {
    const call = newCall();
    await store.accept(call, 0, { owner: 'a', leaseMs: LEASE_MS });
    expect(await store.get(ACME, call.id)).toMatchObject({ status: 'running', runs: 1, claim: 1 });
    expect(await store.claim('b', LEASE_MS, 10)).toEqual([]);
    expect(await store.finish({ id: call.id, claim: 1 }, endAs('succeeded'))).toBe(true);
    expect(await statusOf(call.id)).toBe('succeeded');
  });

  it('finds a call whose owner died as it was accepted', async () => {
    const call = newCall({ idempotent: true });
    await store.accept(call, 1_000, { owner: 'a', leaseMs: LEASE_MS });
    await leasesEnd(database);
    await store.sweep(3);
    expect(await claimOf(store, call.id, 'b')).toMatchObject({ id: call.id, claim: 2, run: 2 });
  });

  it('counts only those that wait against what a tenant may have waiting', async () => {
    const claim = { owner: 'a', leaseMs: LEASE_MS };
    const asked = [undefined, claim, undefined, claim, undefined].map((own) =>
      store.accept(newCall(), 2, own).then(
        () => 'accepted',
        (error: { reason?: string }) => error.reason,
      ),
    );
    expect(await Promise.all(asked)).toEqual([
      'accepted',
      'accepted',
      'accepted',
      'accepted',
      'ASYNC_QUEUE_FULL',
    ]);
  });

  it('keeps one call of a schedule for one moment, and any number that have no schedule', async () => {
    const schedule = { id: 'daily', fireTime: Date.UTC(2026, 0, 1) };
    const [first, second] = [
      newCall({ kind: 'scheduled', schedule }),
      newCall({ kind: 'scheduled', schedule }),
    ];
    await store.accept(first, 1_000);
    await store.accept(second, 1_000);
    expect(await waitingIds(database)).toEqual([first.id]);
    await accepted();
    await accepted();
    expect(await waitingIds(database)).toHaveLength(3);
  });

  it('accepts many at once, each of which is there afterwards', async () => {
    const ids = await Promise.all(Array.from({ length: 200 }, () => accepted()));
    expect(new Set(await waitingIds(database))).toEqual(new Set(ids));
  });

  it('gives no more than there is capacity for, first those that are first, and each to one of many', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 9; index += 1) ids.push(await accepted());
    const first = await store.claim('a', LEASE_MS, 3);
    expect(first.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    const others = await Promise.all(['b', 'c', 'd'].map((owner) => store.claim(owner, LEASE_MS, 2)));
    expect(others.flat().length).toBeLessThanOrEqual(6);
    const rest = await store.claim('e', LEASE_MS, 9);
    const all = [...first, ...others.flat(), ...rest].map(({ id }) => id);
    expect(all).toHaveLength(9);
    expect(new Set(all)).toEqual(new Set(ids));
  });

  it('gives an owner what it has claimed once more, with its lease anew, and nothing that is over', async () => {
    const [id, ended] = [await accepted(), await accepted()];
    const claimed = await store.claim('lost', LEASE_MS, 2);
    for (const claim of claimed.filter((each) => each.id === ended))
      await store.finish(claim, endAs('succeeded'));
    await leasesEnd(database);
    expect(await store.reclaim('lost', LEASE_MS)).toEqual(claimed.filter((each) => each.id === id));
    expect(await store.sweep(3)).toEqual([]);
    expect(await store.reclaim('another', LEASE_MS)).toEqual([]);
    for (const claim of claimed.filter((each) => each.id === id))
      expect(await store.finish(claim, endAs('succeeded'))).toBe(true);
    expect(await store.reclaim('lost', LEASE_MS)).toEqual([]);
  });

  it('ends many at once, each by its own claim, and none that is void', async () => {
    const claims = [];
    for (let index = 0; index < 20; index += 1) claims.push(await claimed());
    const written = await Promise.all(
      claims.map(({ id, claim }, index) =>
        store.finish({ id, claim: claim + (index % 2) }, endAs(index % 3 === 0 ? 'failed' : 'succeeded')),
      ),
    );
    expect(written).toEqual(claims.map((_claim, index) => index % 2 === 0));
    for (const [index, { id }] of claims.entries())
      expect(await statusOf(id)).toBe(index % 2 === 1 ? 'running' : index % 3 === 0 ? 'failed' : 'succeeded');
  });

  it('of many accepted at once, one that cannot be written fails alone', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) =>
        store.accept(newCall(index === 5 ? { kind: 'wrong' as 'async' } : {}), 1_000),
      ),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(
      Array.from({ length: 12 }, (_, index) => (index === 5 ? 'rejected' : 'fulfilled')),
    );
    expect(await waitingIds(database)).toHaveLength(11);
  });

  it('keeps a call whose context holds half of a character', async () => {
    const id = await accepted({ agentId: 'half \ud800', sessionId: '\udfff' });
    expect(await waitingIds(database)).toEqual([id]);
  });

  it('of a call accepted twice keeps one', async () => {
    const call = newCall({ callbackUrl: 'https://hooks.example/x' });
    await Promise.all([store.accept(call, 1_000), store.accept(call, 1_000)]);
    await store.accept(call, 1_000);
    expect(await waitingIds(database)).toEqual([call.id]);
  });

  it('keeps what the request and the answer hold, NUL and lone surrogates too', async () => {
    const request = JSON.stringify({ a: '\0', b: '\ud800', c: 'ü\\u0000' });
    const call = await claimed({ request, agentId: 'with\0nul' });
    expect(call.request).toBe(request);
    const envelope = JSON.stringify({ ok: true, data: ['\0', '\udfff'] });
    expect(await store.finish(call, endAs('succeeded', envelope))).toBe(true);
    expect((await store.get(ACME, call.id))?.envelope).toBe(envelope);
  });

  it('writes one end: the second finds the claim void', async () => {
    const call = await claimed();
    expect(await store.finish(call, endAs('failed'))).toBe(true);
    expect(await store.finish(call, endAs('succeeded'))).toBe(false);
    expect(await statusOf(call.id)).toBe('failed');
  });

  it('runs an idempotent call of a lost owner again, and voids what that owner writes late', async () => {
    const late = await claimed({ idempotent: true });
    await leasesEnd(database);
    expect(await store.sweep(3)).toEqual([{ id: late.id, claim: 1, status: 'queued' }]);
    const second = await claimOf(store, late.id, 'b');
    expect(second).toMatchObject({ run: 2 });
    expect(await store.finish(late, endAs('succeeded'))).toBe(false);
    expect(await store.renew([late], LEASE_MS)).toEqual([]);
    expect(await statusOf(late.id)).toBe('running');
  });

  it('never runs a call again that may not run twice: nobody can tell what it did', async () => {
    const { id } = await claimed({ idempotent: false });
    await leasesEnd(database);
    await store.sweep(3);
    expect(await store.get(ACME, id)).toMatchObject({ status: 'outcome_unknown', partialSideEffects: true });
    expect(await claimOf(store, id, 'b')).toBeUndefined();
  });

  it('gives up on a call whose owners are lost again and again', async () => {
    const id = await accepted();
    for (let run = 1; run <= 3; run += 1) {
      expect(await claimOf(store, id, 'a')).toMatchObject({ run });
      await leasesEnd(database);
      await store.sweep(3);
    }
    expect(await store.get(ACME, id)).toMatchObject({
      status: 'failed',
      errorType: 'UNAVAILABLE',
      reason: 'OWNER_LOST',
    });
  });

  it('leaves a call alone whose lease was renewed', async () => {
    const call = await claimed({ idempotent: false });
    await leasesEnd(database);
    expect(await store.renew([call], LEASE_MS)).toEqual([{ id: call.id, claim: 1, cancelRequested: false }]);
    expect(await store.sweep(3)).toEqual([]);
  });

  it('takes a call back without counting the run, and not before its time', async () => {
    const call = await claimed();
    expect(await store.giveBack(call, 60_000)).toBe(true);
    expect(await store.get(ACME, call.id)).toMatchObject({ status: 'queued', runs: 0 });
    expect(await waitingIds(database)).toEqual([]);
    expect(await claimOf(store, call.id, 'b')).toBeUndefined();
    expect(await store.finish(call, endAs('succeeded'))).toBe(false);
  });

  it('cancels a waiting call at once and asks a running one', async () => {
    const waiting = await accepted();
    expect(await store.cancel(ACME, waiting)).toBe('cancelled');
    expect(await claimOf(store, waiting, 'a')).toBeUndefined();
    expect(await store.cancel(ACME, waiting)).toBe('ended');
    const running = await claimed();
    expect(await store.cancel(ACME, running.id)).toBe('requested');
    expect(await store.renew([running], LEASE_MS)).toMatchObject([{ cancelRequested: true }]);
    await store.giveBack(running, 0);
    expect(await statusOf(running.id)).toBe('cancelled');
  });

  it('shows and cancels nothing of another tenant', async () => {
    const id = await accepted();
    expect(await store.get('umbrella', id)).toBeUndefined();
    expect(await store.cancel('umbrella', id)).toBeUndefined();
    expect(await store.retry('umbrella', id, again(true))).toBeUndefined();
  });

  it('refuses a tenant that has too many waiting, and no other', async () => {
    for (let index = 0; index < 3; index += 1) await store.accept(newCall(), 3);
    await expect(store.accept(newCall(), 3)).rejects.toMatchObject({
      type: 'CONCURRENCY_LIMIT',
      reason: 'ASYNC_QUEUE_FULL',
    });
    await store.accept(newCall({ tenantId: 'umbrella' }), 3);
  });

  it('lets tenants take turns, and high priority go first', async () => {
    const flood = [await accepted(), await accepted(), await accepted()];
    const other = await accepted({ tenantId: 'umbrella' });
    const urgent = await accepted({ tenantId: 'umbrella', priority: 'high' });
    const order = (await store.claim('a', LEASE_MS, 10)).map(({ id }) => id);
    expect(order[0]).toBe(urgent);
    expect(order.indexOf(other)).toBeLessThan(order.indexOf(flood[1] ?? ''));
    expect(order.filter((id) => flood.includes(id))).toEqual(flood);
  });

  it('ends what has waited too long, unrun', async () => {
    const id = await accepted({ maxWaitMs: 0 });
    expect(await waitingIds(database)).toEqual([]);
    expect(await claimOf(store, id, 'a')).toBeUndefined();
    await store.sweep(3);
    expect(await store.get(ACME, id)).toMatchObject({
      status: 'failed',
      errorType: 'TIMEOUT',
      reason: 'WAITED_TOO_LONG',
    });
  });

  it('runs an ended call again only where it can do no harm, or when told to', async () => {
    const unsafe = await claimed({ idempotent: false });
    expect(await store.retry(ACME, unsafe.id, again(false))).toBe('not_ended');
    await store.finish(unsafe, { ...endAs('failed'), partialSideEffects: true });
    expect(await store.retry(ACME, unsafe.id, again(false))).toBe('unsafe');
    expect(await store.retry(ACME, unsafe.id, again(true))).toBe('queued');
    expect(await claimOf(store, unsafe.id, 'b')).toMatchObject({
      run: 1,
      claim: 2,
      request: '{"again":true}',
    });
    const safe = await claimed({ idempotent: true });
    await store.finish(safe, { ...endAs('failed'), partialSideEffects: true });
    expect(await store.retry(ACME, safe.id, again(false))).toBe('queued');
    const done = await claimed();
    await store.finish(done, endAs('succeeded'));
    expect(await store.retry(ACME, done.id, again(true))).toBe('succeeded');
  });

  it('keeps events in order and gives those after a number', async () => {
    const id = await accepted();
    const said = [1, 2, 3].map((seq) => ({ seq, kind: 'log', data: { message: `line ${seq}\0` } }));
    await store.appendEvents(id, said);
    await store.appendEvents(id, said);
    expect(await store.events(id, 1, 10)).toEqual(said.slice(1));
    expect(await store.lastEvent(id)).toBe(3);
  });

  it('counts what waits and runs', async () => {
    await claimed();
    await accepted();
    expect(await store.state()).toMatchObject({
      queued: 1,
      running: 1,
      oldestWaitingSeconds: expect.any(Number),
    });
  });

  it('a webhook is due once its call has ended, to one sender at a time, and is kept when given up', async () => {
    const call = await claimed({ callbackUrl: 'https://hooks.example/x' });
    expect(await webhooks.claim(10, 1_000)).toEqual([]);
    await store.finish(call, endAs('succeeded'));
    const [due, ...others] = await webhooks.claim(10, 60_000);
    expect(due).toMatchObject({
      attempt: 1,
      url: 'https://hooks.example/x',
      call: { id: call.id, envelope: '{"ok":true}' },
    });
    expect(others).toEqual([]);
    expect(await webhooks.claim(10, 60_000)).toEqual([]);
    await webhooks.failed(due?.id ?? '', 1, 'answered 500', { afterMs: -1 });
    expect(await webhooks.claim(10, 60_000)).toMatchObject([{ attempt: 2 }]);
    await webhooks.failed(due?.id ?? '', 2, 'answered 500', 'give_up');
    expect(await webhooks.dead('umbrella', 10)).toEqual([]);
    expect(await webhooks.dead(ACME, 10)).toMatchObject([
      { callId: call.id, lastError: 'answered 500', attempts: 2 },
    ]);
    expect(await webhooks.counts()).toEqual({ pending: 0, dead: 1 });
    expect(await webhooks.redrive('umbrella', due?.id ?? '')).toBe(false);
    expect(await webhooks.redrive(ACME, due?.id ?? '')).toBe(true);
    expect(await webhooks.claim(10, 60_000)).toMatchObject([{ attempt: 1 }]);
    await webhooks.delivered(due?.id ?? '', 1);
    expect(await webhooks.counts()).toEqual({ pending: 0, dead: 0 });
  });
});
