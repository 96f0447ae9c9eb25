// RecordedKeys: what is changed in the database is in force within five seconds, and what was known holds while it is away.
import { describe, expect, it, onTestFinished } from 'vitest';
import { recordingLog } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { createApiKey } from '../../lib/secrets/api-key.ts';
import type { KeyRecord } from '../../ports/keys/key-store.ts';
import { ApiKeyAuthenticator } from './api-key-authenticator.ts';
import { RecordedKeys } from './recorded-keys.ts';

function keyOf(changes: Partial<KeyRecord> = {}) {
  const { text, id, secretHash } = createApiKey(changes.id);
  const record: KeyRecord = {
    id,
    name: 'a key',
    secretSha256: secretHash.toString('hex'),
    previousSha256: null,
    previousExpiresAt: null,
    tenant: 'acme',
    tenants: null,
    agents: ['*'],
    user: null,
    roles: ['agent'],
    createdAt: new Date(0),
    createdBy: 'op',
    expiresAt: null,
    revokedAt: null,
    revokedBy: null,
    ...changes,
  };
  return { text, record };
}

async function setUp(first: readonly KeyRecord[]) {
  const clock = new FakeClock(1_000_000);
  const log = recordingLog();
  const authenticator = new ApiKeyAuthenticator([], {}, clock);
  const database = { generation: 1, keys: first, isAway: false };
  let answered: Promise<void> = Promise.resolve();
  const read = async () => {
    await answered;
    if (database.isAway) throw new Error('connect ECONNREFUSED');
    return database;
  };
  const store = {
    generation: async () => (await read()).generation,
    inForce: async () => ({ ...(await read()) }),
  };
  const gauges = { unread: gauge(), count: gauge() };
  const recorded = new RecordedKeys({ store, authenticator, clock, log, ...gauges });
  onTestFinished(() => recorded.stop());
  await recorded.start();
  const told = (text: string) => {
    try {
      return authenticator.authenticate({ kind: 'bearer', token: text }).id;
    } catch (error) {
      return (error as { reason: string }).reason;
    }
  };
  const change = (keys: readonly KeyRecord[]) => {
    database.generation += 1;
    database.keys = keys;
  };
  const hang = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    answered = promise;
    return resolve;
  };
  return { clock, log, hang, authenticator, database, recorded, told, change, gauges };
}

function gauge() {
  const made = { value: 0, set: (value: number) => void (made.value = value), add: () => undefined };
  return made;
}

describe('RecordedKeys', () => {
  it('lets a key of the database in, with its tenant and its roles', async () => {
    const { text, record } = keyOf({ user: 'ann', agents: ['front-desk'] });
    const { authenticator, gauges } = await setUp([record]);
    expect(authenticator.authenticate({ kind: 'bearer', token: text })).toMatchObject({
      id: record.id,
      tenantId: 'acme',
      userId: 'ann',
      agents: ['front-desk'],
    });
    expect(gauges.count.value).toBe(1);
  });

  it('refuses a key within five seconds of its being revoked elsewhere, seen before or not', async () => {
    const [stays, goes] = [keyOf(), keyOf()];
    const { clock, told, change, authenticator } = await setUp([stays.record, goes.record]);
    expect(told(goes.text)).toBe(goes.record.id);
    change([stays.record]);
    await clock.advance(5_000);
    await expect.poll(() => told(goes.text)).toBe('CREDENTIAL_INVALID');
    expect(told(stays.text)).toBe(stays.record.id);
    expect(() =>
      authenticator.recall({ principalId: goes.record.id, tenantId: 'acme', permissions: [] }),
    ).toThrow(/not valid any more/);
  });

  it('while the database is away, what was known stays in force, expires by the clock, and it is said once', async () => {
    const [lasts, ends] = [keyOf(), keyOf({ expiresAt: new Date(1_000_500) })];
    const { clock, log, told, database, recorded, gauges } = await setUp([lasts.record, ends.record]);
    database.isAway = true;
    await recorded.check();
    await recorded.check();
    expect([recorded.isAway, gauges.unread.value]).toEqual([true, 1]);
    expect(JSON.stringify(log.lines).match(/cannot be read/g)).toHaveLength(1);
    expect(told(ends.text)).toBe(ends.record.id);
    clock.jumpTo(1_000_500);
    expect([told(lasts.text), told(ends.text)]).toEqual([lasts.record.id, 'CREDENTIAL_EXPIRED']);
    database.isAway = false;
    await recorded.check();
    expect([recorded.isAway, gauges.unread.value]).toEqual([false, 0]);
  });

  it('after a rotation both secrets are good, the one from before until its time', async () => {
    const old = keyOf();
    const fresh = keyOf({
      id: old.record.id,
      previousSha256: old.record.secretSha256,
      previousExpiresAt: new Date(1_001_000),
    });
    const { clock, told } = await setUp([fresh.record]);
    expect([told(old.text), told(fresh.text)]).toEqual([old.record.id, old.record.id]);
    clock.jumpTo(1_001_000);
    expect([told(old.text), told(fresh.text)]).toEqual(['CREDENTIAL_EXPIRED', old.record.id]);
  });

  it('an id that gateway.yaml has is that of gateway.yaml', async () => {
    const { text, id, secretHash } = createApiKey();
    const same = keyOf({ id });
    const { authenticator, told } = await setUp([same.record]);
    const configured = {
      id,
      secret_sha256: secretHash.toString('hex'),
      tenant: 'acme',
      agents: ['*'],
      roles: ['agent'],
    };
    authenticator.replace([configured], {});
    expect([told(text), told(same.text)]).toEqual([id, 'CREDENTIAL_INVALID']);
  });

  it('a database that does not answer is told of after three seconds, before the question is given up', async () => {
    const { clock, hang, recorded, gauges } = await setUp([]);
    const letGo = hang();
    await clock.advance(1_500);
    expect(recorded.isAway).toBe(false);
    await clock.advance(3_000);
    expect([recorded.isAway, gauges.unread.value]).toEqual([true, 1]);
    letGo();
    await recorded.check();
    expect([recorded.isAway, gauges.unread.value]).toEqual([false, 0]);
  });

  it('a start asks again where the database does not answer at once, and gives up after ten seconds', async () => {
    const { clock, database, recorded } = await setUp([]);
    database.isAway = true;
    const started = recorded.start();
    await clock.advance(3_000);
    database.isAway = false;
    await clock.advance(1_000);
    await started;
    database.isAway = true;
    const refused = recorded.start().catch((error: Error) => error.message);
    await clock.advance(11_000);
    expect(await refused).toContain('ECONNREFUSED');
  });

  it('ends though its question to the database is never answered, and puts nothing in force afterwards', async () => {
    const [before, after] = [keyOf(), keyOf()];
    const { clock, told, change, hang, recorded } = await setUp([before.record]);
    const letGo = hang();
    await clock.advance(2_000);
    recorded.stop();
    change([after.record]);
    letGo();
    await recorded.check();
    expect([told(before.text), told(after.text)]).toEqual([before.record.id, 'CREDENTIAL_INVALID']);
  });

  it('a role that is no longer declared grants nothing, and keeps no other key out', async () => {
    const [without, other] = [keyOf({ roles: ['gone'] }), keyOf()];
    const { authenticator, told } = await setUp([without.record, other.record]);
    expect(authenticator.authenticate({ kind: 'bearer', token: without.text }).permissions.size).toBe(0);
    expect(told(other.text)).toBe(other.record.id);
  });
});
