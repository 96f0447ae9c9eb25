// CallStore on both databases: who may run a call, and its one end.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { databaseCallStore } from '../../../src/infra/database/call-store.ts';
import type { Database } from '../../../src/infra/database/database.ts';
import { databaseWebhookStore } from '../../../src/infra/database/webhook-store.ts';
import type { CallStore, NewCall } from '../../../src/ports/call-store.ts';
import type { WebhookStore } from '../../../src/ports/webhook-store.ts';
import { ACME, DAY_MS, endAs, forgetCalls, leasesEnd, newCall } from '../../helpers/async-kit.ts';
import { DATABASES, type TestDatabase } from '../../helpers/databases.ts';

const LEASE_MS = 30_000;

describe.each(DATABASES)('calls on %s', (_name, open) => {
  let opened: TestDatabase;
  let database: Database;
  let store: CallStore;
  let webhooks: WebhookStore;

  beforeAll(async () => {
    opened = await open();
    database = await opened.records.database();
    store = databaseCallStore(database, DAY_MS);
    webhooks = databaseWebhookStore(database);
  }, 60_000);
  afterEach(() => forgetCalls(database));
  afterAll(() => opened.end());

  const accepted = async (over: Partial<NewCall> = {}) => {
    const call = newCall(over);
    await store.accept(call, 1_000);
    return call.id;
  };
  const claimed = async (over: Partial<NewCall> = {}) => {
    const id = await accepted(over);
    const claim = await store.claim(id, 'a', LEASE_MS);
    if (claim === undefined) throw new Error('not claimed');
    return claim;
  };
  const statusOf = async (id: string) => (await store.get(ACME, id))?.status;

  it('gives a call to one of many that ask at once', async () => {
    const id = await accepted();
    const claims = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => store.claim(id, owner, LEASE_MS)));
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    expect(await store.get(ACME, id)).toMatchObject({ status: 'running', runs: 1 });
  });

  it('accepts many at once, each of which is there afterwards', async () => {
    const ids = await Promise.all(Array.from({ length: 200 }, () => accepted()));
    expect(new Set((await store.waiting(500)).map(({ id }) => id))).toEqual(new Set(ids));
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
    const second = await store.claim(late.id, 'b', LEASE_MS);
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
    expect(await store.claim(id, 'b', LEASE_MS)).toBeUndefined();
  });

  it('gives up on a call whose owners are lost again and again', async () => {
    const id = await accepted();
    for (let run = 1; run <= 3; run += 1) {
      expect(await store.claim(id, 'a', LEASE_MS)).toMatchObject({ run });
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
    expect(await store.waiting(10)).toEqual([]);
    expect(await store.claim(call.id, 'b', LEASE_MS)).toBeUndefined();
    expect(await store.finish(call, endAs('succeeded'))).toBe(false);
  });

  it('cancels a waiting call at once and asks a running one', async () => {
    const waiting = await accepted();
    expect(await store.cancel(ACME, waiting)).toBe('cancelled');
    expect(await store.claim(waiting, 'a', LEASE_MS)).toBeUndefined();
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
    expect(await store.retry('umbrella', id, true)).toBeUndefined();
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
    const order = (await store.waiting(10)).map(({ id }) => id);
    expect(order[0]).toBe(urgent);
    expect(order.indexOf(other)).toBeLessThan(order.indexOf(flood[1] ?? ''));
    expect(order.filter((id) => flood.includes(id))).toEqual(flood);
  });

  it('ends what has waited too long, unrun', async () => {
    const id = await accepted({ maxWaitMs: 0 });
    expect(await store.waiting(10)).toEqual([]);
    expect(await store.claim(id, 'a', LEASE_MS)).toBeUndefined();
    await store.sweep(3);
    expect(await store.get(ACME, id)).toMatchObject({
      status: 'failed',
      errorType: 'TIMEOUT',
      reason: 'WAITED_TOO_LONG',
    });
  });

  it('runs an ended call again only where it can do no harm, or when told to', async () => {
    const unsafe = await claimed({ idempotent: false });
    expect(await store.retry(ACME, unsafe.id, false)).toBe('not_ended');
    await store.finish(unsafe, { ...endAs('failed'), partialSideEffects: true });
    expect(await store.retry(ACME, unsafe.id, false)).toBe('unsafe');
    expect(await store.retry(ACME, unsafe.id, true)).toBe('queued');
    expect(await store.claim(unsafe.id, 'b', LEASE_MS)).toMatchObject({ run: 1, claim: 2 });
    const safe = await claimed({ idempotent: true });
    await store.finish(safe, { ...endAs('failed'), partialSideEffects: true });
    expect(await store.retry(ACME, safe.id, false)).toBe('queued');
    const done = await claimed();
    await store.finish(done, endAs('succeeded'));
    expect(await store.retry(ACME, done.id, true)).toBe('succeeded');
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
    await accepted();
    await claimed();
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
