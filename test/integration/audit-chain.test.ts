// The audit trail in the database: each tenant's records in one chain without a gap or a fork, whoever writes at once.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auditLine, chainedJson, personalJson } from '../../src/infra/audit/audit-line.ts';
import { isDataError } from '../../src/infra/audit/audit-shipper.ts';
import { SqlAuditTable } from '../../src/infra/audit/audit-table.ts';
import { chainHash, FIRST_PREVIOUS, personalHash } from '../../src/lib/audit-chain/chained-record.ts';
import { checkpointId, isSigned, keyIdOf, readCheckpoint } from '../../src/lib/audit-chain/checkpoint.ts';
import { readExportLine } from '../../src/lib/audit-chain/export-line.ts';
import { verifyChain } from '../../src/lib/audit-chain/verify-chain.ts';
import type { CheckpointSink } from '../../src/infra/audit/checkpoints/checkpoint-file.ts';
import { Checkpoints } from '../../src/infra/audit/checkpoints/checkpoints.ts';
import { recordingMetrics } from '../helpers/call-kit.ts';
import { recordOf, TRAIL_ROW, type TrailRow } from '../../src/infra/audit/chain/trail-columns.ts';
import { dropOldDays, makeDaysAhead, trailDays } from '../../src/infra/audit/trail/trail-days.ts';
import { SqlCallHistory } from '../../src/infra/calls/sql-call-history.ts';
import { getCall } from '../../src/infra/calls/call-operations.ts';
import { reconcileCalls } from '../../src/infra/calls/reconcile-calls.ts';
import type { Database } from '../../src/infra/postgres/database.ts';
import { storable } from '../../src/infra/postgres/storable.ts';
import type { AuditRecord } from '../../src/ports/audit-sink.ts';
import { uuidv7 } from '../../src/lib/ids.ts';
import { auditRecord, intentRecord } from '../helpers/audit-kit.ts';
import { postgresDatabase, type SharedTestDatabase } from '../helpers/databases.ts';

const DAY = 86_400_000;

let there: SharedTestDatabase;
let database: Database;
let table: SqlAuditTable;
let tenants = 0;
let tenant: string;

beforeAll(async () => {
  there = await postgresDatabase();
  database = await there.database.opened();
  table = new SqlAuditTable(database, 'owner');
});
afterAll(() => there?.end());
beforeEach(() => (tenant = `tenant-${(tenants += 1)}`));

const linesOf = (records: readonly AuditRecord[]) => Buffer.from(records.map(auditLine).join(''));
const some = (count: number, changes: Partial<AuditRecord> = {}) =>
  Array.from({ length: count }, () => auditRecord({ tenant, ...changes }));

/** In the order of the chain, each held to its hash. */
async function chainOf(name = tenant): Promise<readonly TrailRow[]> {
  const { rows } = await sql<TrailRow>`SELECT ${TRAIL_ROW} FROM audit_trail WHERE tenant_id = ${name}
    ORDER BY seq`.execute(database.db);
  let previous = FIRST_PREVIOUS;
  rows.forEach((row, index) => {
    const record = chainedJson(recordOf(row), row.personal_hash ?? '');
    const place = { previous, recordedAt: row.recorded_at.toISOString(), seq: index + 1, tenant: name };
    expect(row.seq).toBe(index + 1);
    expect(row.hash).toBe(chainHash(record, place));
    previous = row.hash;
  });
  return rows;
}

it('is SHA-256 over a zero byte and canonical JSON of the record, its place and the hash before', async () => {
  await table.store(linesOf([auditRecord({ tenant, user: '', session: '' })]));
  const [row] = await chainOf();
  const text = JSON.stringify({
    previous: '0'.repeat(64),
    record: JSON.parse(chainedJson(recordOf(row as TrailRow), '')) as unknown,
    recorded_at: row?.recorded_at.toISOString(),
    seq: 1,
    tenant,
  });
  expect(row?.hash).toBe(createHash('sha256').update(`\0${text}`).digest('hex'));
});

it('pieces that one replica stores at the same time stay apart, larger or smaller than the one before', async () => {
  const names = ['a', 'bb', 'ccc'].map((name) => `${tenant}-${name}`);
  for (const count of [200, 3, 600]) {
    const piece = (name: string) => linesOf(some(count, { tenant: name, user: `user of ${name}` }));
    await Promise.all(names.map((name) => table.store(piece(name))));
  }
  for (const name of names) {
    const users = (await chainOf(name)).map((row) => row.user_id);
    expect([users.length, new Set(users)]).toEqual([803, new Set([`user of ${name}`])]);
  }
});

it('several replicas that write at once, for several tenants, make one chain for each', async () => {
  const names = [0, 1, 2].map((n) => `${tenant}-${n}`);
  const replicas = await Promise.all([0, 1, 2, 3].map(() => there.another().opened()));
  await Promise.all(
    replicas.map(async (replica) => {
      const own = new SqlAuditTable(replica, 'owner');
      for (let round = 0; round < 10; round += 1)
        await own.store(linesOf(names.flatMap((name) => some(7, { tenant: name }))), true);
    }),
  );
  for (const name of names) expect(await chainOf(name)).toHaveLength(4 * 10 * 7);
});

it('what is stored twice, by two at once, is there once', async () => {
  const records = some(50);
  await Promise.all([1, 2, 3, 4].map(() => table.store(linesOf(records))));
  expect(await chainOf()).toHaveLength(50);
});

it('takes lines of an older version, and what they say can be read', async () => {
  const { callId } = auditRecord();
  const old = {
    event_id: uuidv7(Date.now()), kind: 'outcome', at: new Date().toISOString(), call_id: callId, call_kind: 'sync',
    door: 'rest', principal_id: 'key00001', tenant_id: tenant, agent_id: '', user_id: 'ann', session_id: '',
    requested_tool: 'pay', tool: 'pay', tool_version: '1.0.0', executor: 'javascript', outcome: 'ok', reason: '',
    arguments_hash: 'a'.repeat(64), read_only: true, idempotent: true, attempts: 1, duration_ms: 1.5, remaining_ms: 0,
    partial_side_effects: false, registry_version: '1', trace_id: '', notes: { b: 1, a: 2 },
  }; // oxfmt-ignore
  await table.store(Buffer.from(`${JSON.stringify(old)}\n`));
  await table.store(Buffer.from(`${JSON.stringify(old)}\n`));
  expect(await chainOf()).toMatchObject([{ call_id: callId, user_id: 'ann', notes: { a: 2, b: 1 } }]);
});

it('what is no record is refused as data, and stores nothing', async () => {
  for (const line of ['{"event_id":"x"', '{}', 'null', '{"at":"never","tenant_id":"acme"}'])
    await expect(table.store(Buffer.from(`${line}\n`))).rejects.toSatisfy(
      (error) => error instanceof SyntaxError || /^2[23]/.test((error as { code: string }).code),
      line,
    );
});

it('what would be a column, a row or its end in the format of COPY is text, and is stored as it is', async () => {
  const hostile = [
    '\\N',
    '\\.',
    '\\',
    'a\tb',
    'a\nb\r\n',
    '\u0000 \ud83d',
    "'; DROP TABLE calls; --",
    '\\x00',
    '😀 é',
  ];
  await table.store(
    linesOf(hostile.map((user) => auditRecord({ tenant, user, session: user, notes: { [user]: user } }))),
  );
  const rows = await chainOf();
  const stored = hostile.map(storable);
  expect(rows.map((row) => row.user_id)).toEqual(stored);
  expect(rows.map((row) => [row.session_id, row.notes])).toEqual(
    stored.map((user) => [user, { [user]: user }]),
  );
  const hashes = rows.map((row) => personalHash(row.personal_salt ?? '', personalJson(recordOf(row))));
  expect(rows.map((row) => row.personal_hash)).toEqual(hashes);
});

it('in the inbox, what no chain takes holds up nothing else', async () => {
  await sql`INSERT INTO audit_inbox (record) VALUES ('no record'), (${auditLine(auditRecord({ tenant })).trim()})`.execute(
    database.db,
  );
  const rejected: string[] = [];
  await table.takeIn(async (record) => void rejected.push(record));
  expect(rejected).toEqual(['no record']);
  expect(await chainOf()).toHaveLength(1);
});

it('in the inbox, what no chain takes waits until it is kept elsewhere, and whoever takes in meanwhile passes it by', async () => {
  const other = new SqlAuditTable(await there.another().opened(), 'owner');
  const good = auditLine(auditRecord({ tenant })).trim();
  await sql`INSERT INTO audit_inbox (record) VALUES ('no record'), (${good})`.execute(database.db);
  const waiting = async () =>
    (await sql<{ record: string }>`SELECT record FROM audit_inbox`.execute(database.db)).rows.map(
      ({ record }) => record,
    );
  const byOther: string[] = [];
  const failing = table.takeIn(async () => {
    await other.takeIn(async (record) => void byOther.push(record));
    throw new Error('the disk is full');
  });
  await expect(failing).rejects.toThrow('the disk is full');
  expect([byOther, await waiting()]).toEqual([[], ['no record']]);
  expect(await chainOf()).toHaveLength(1);
  await table.takeIn(async (record) => void byOther.push(record));
  expect([byOther, await waiting()]).toEqual([['no record'], []]);
});

it('a day whose partition is gone, as of a database from a backup, is no fault of a record, and is made again', async () => {
  await table.store(linesOf(some(1, { tenant: 'before-the-backup' })));
  const days = await trailDays(database);
  for (const day of days) await sql`DROP TABLE ${sql.table(`audit_trail_${day}`)}`.execute(database.db);
  const refused = await table.store(linesOf(some(3))).catch((error: unknown) => error);
  expect([refused, isDataError(refused)]).toMatchObject([{ code: '23514' }, false]);
  await table.store(linesOf(some(3)));
  expect(await chainOf()).toHaveLength(3);
});

it('a day without a partition is given one by whoever writes first', async () => {
  const days = await trailDays(database);
  for (const day of days) await sql`DROP TABLE ${sql.table(`audit_trail_${day}`)}`.execute(database.db);
  const others = await Promise.all([0, 1, 2].map(() => there.another().opened()));
  await Promise.all(others.map((other) => new SqlAuditTable(other, 'owner').store(linesOf(some(3)))));
  expect(await trailDays(database)).toHaveLength(1);
  await makeDaysAhead(database);
  expect(await trailDays(database)).toHaveLength(8);
});

it('drops whole days that are too old, and no other', async () => {
  await table.store(linesOf(some(3)));
  const old = [400, 366, 365, 364].map((ago) => new Date(Date.now() - ago * DAY).toISOString().slice(0, 10));
  for (const day of old) await sql`SELECT audit_partition(${day}::date)`.execute(database.db);
  const dropped = await dropOldDays(database, 365 * DAY);
  expect(dropped).toEqual(old.slice(0, 2).map((day) => day.replaceAll('-', '')));
  expect(await chainOf()).toHaveLength(3);
  await dropOldDays(database, 0);
  expect(await chainOf()).toHaveLength(3);
});

describe('the history of calls', () => {
  const history = () => new SqlCallHistory(database);
  const calls = async () => (await history().calls(tenant, { filter: {}, limit: 100 })).rows;

  it('of a call that only reads there is one row in all, and all of it can be read', async () => {
    const record = auditRecord({ tenant, readOnly: true, intended: false, notes: { cached: true } });
    await table.store(linesOf([record]), true);
    const { rows } = await sql`SELECT 1 FROM calls WHERE id = ${record.callId}`.execute(database.db);
    expect(rows).toEqual([]);
    expect(await calls()).toMatchObject([
      { id: record.callId, status: 'succeeded', tool: 'pay', readOnly: true, notes: { cached: true } },
    ]);
    expect(await getCall(database.db, tenant, record.callId)).toMatchObject({
      kind: 'sync', status: 'succeeded', runs: 1, errorType: null, durationMs: 3.5,
    }); // oxfmt-ignore
    expect(await getCall(database.db, 'another', record.callId)).toBeUndefined();
    for (const id of ['x', 'ffffffff-ffff-7fff-bfff-ffffffffffff', '00000000-0000-7000-8000-000000000000'])
      expect(await getCall(database.db, tenant, id)).toBeUndefined();
  });

  it('an intent that is committed after its outcome is known for what it is when somebody looks for lost calls', async () => {
    const callId = uuidv7(Date.now());
    await table.store(linesOf([auditRecord({ tenant, callId })]), true);
    await table.intend([auditLine(intentRecord({ tenant, callId, remainingMs: 0 }))]);
    expect(await calls()).toMatchObject([{ id: callId, status: 'running' }]);
    const ended = await reconcileCalls(database, { gateway: 'own', leaseMs: 0 });
    expect(ended.filter(({ id }) => id === callId)).toEqual([]);
    expect(await calls()).toMatchObject([{ id: callId, status: 'succeeded' }]);
  });

  it('keeps what versions before it have recorded, behind what is chained', async () => {
    await sql`INSERT INTO audit_records (event_id, kind, at, call_id, door, principal_id, tenant_id, agent_id, user_id,
        session_id, requested_tool, tool, tool_version, executor, outcome, reason, arguments_hash, attempts, duration_ms,
        partial_side_effects, registry_version, trace_id)
      SELECT 'old-' || n, 'outcome', now() - n * interval '1 minute', '', '', '', ${tenant}, '', '', '', '', '', '', '', 'ok', '',
        '', 1, 1, false, '', '' FROM generate_series(1, 5) AS n`.execute(database.db);
    const records = some(5, { user: '', session: '' });
    await table.store(linesOf(records), true);
    const seen: string[] = [];
    let after: { at: number; id: string } | undefined;
    do {
      const page = await history().audit(tenant, { filter: {}, limit: 3, ...(after && { after }) });
      seen.push(...page.rows.map(({ eventId }) => eventId));
      after = page.next;
    } while (after !== undefined);
    expect(seen).toEqual([
      ...records.map(({ eventId }) => eventId).toReversed(),
      ...[1, 2, 3, 4, 5].map((n) => `old-${n}`),
    ]);
  });

  it('each index of the trail is one that a query of ours goes by', async () => {
    await table.store(linesOf(some(200)), true);
    await sql`ANALYZE audit_trail`.execute(database.db);
    await calls();
    await history().audit(tenant, { filter: {}, limit: 10 });
    await getCall(database.db, tenant, uuidv7(Date.now()));
    await sql`SELECT pg_stat_force_next_flush()`.execute(database.db);
    const used = async () => {
      const { rows } = await sql<{ name: string }>`
        SELECT DISTINCT regexp_replace(indexrelname, '\\d{8}', 'day') AS name FROM pg_stat_user_indexes
        WHERE relname LIKE 'audit_trail_%' AND idx_scan > 0 ORDER BY 1`.execute(database.db);
      return rows.map(({ name }) => name);
    };
    await expect
      .poll(used, { timeout: 20_000 })
      .toEqual(['audit_trail_day_coalesce_idx', 'audit_trail_day_seq', 'audit_trail_day_tenant_id_at_idx']);
  });
});

describe('checkpoints', () => {
  const publicKey = generateKeyPairSync('ed25519');
  const replica = (other: Database, sink: CheckpointSink) =>
    new Checkpoints({
      database: other,
      key: { id: keyIdOf(publicKey.publicKey), privateKey: publicKey.privateKey },
      sink,
      made: recordingMetrics().counter({ name: 'made', help: '' }).with(),
    });

  it('are made once for what is new, by one of several replicas, each chained to the one before', async () => {
    const lines: string[] = [];
    const sink = { append: async (more: readonly string[]) => void lines.push(...more) };
    const others = await Promise.all(
      [0, 1, 2].map(async () => replica(await there.another().opened(), sink)),
    );
    const own = () =>
      lines.map((line) => readCheckpoint(line.trimEnd())).filter((each) => each?.tenant === tenant);
    await table.store(linesOf(some(3)));
    await Promise.all(others.map((each) => each.make(true)));
    await Promise.all(others.map((each) => each.make(true)));
    expect(own()).toMatchObject([{ seq: 3, previous: '' }]);
    // Not yet a minute, and not yet ten thousand.
    await table.store(linesOf(some(2)));
    await others[0]?.make();
    expect(own()).toHaveLength(1);
    await others[0]?.make(true);
    const [first, second] = own();
    expect(second).toMatchObject({ seq: 5, previous: first && checkpointId(first) });
    const [, , , , last] = await chainOf();
    expect(second?.hash).toBe(last?.hash);
    expect(own().every((each) => each !== undefined && isSigned(each, publicKey.publicKey))).toBe(true);
  });

  it('are made again where the second place does not take them, and hold up no record', async () => {
    const lines: string[] = [];
    const sink = { append: async (): Promise<void> => Promise.reject(new Error('disk full')) };
    await table.store(linesOf(some(3)));
    await expect(replica(database, sink).make(true)).rejects.toThrow('disk full');
    await table.store(linesOf(some(1)));
    await replica(database, { append: async (more) => void lines.push(...more) }).make(true);
    const own = lines.map((line) => readCheckpoint(line.trimEnd())).filter((each) => each?.tenant === tenant);
    expect(own).toMatchObject([{ seq: 4, previous: '' }]);
  });
});

it('an export can be checked from where the dropped days end', async () => {
  await table.store(linesOf(some(3)));
  const day = '20200101';
  await sql`SELECT audit_partition(${day}::date)`.execute(database.db);
  await sql`UPDATE audit_trail SET recorded_at = '2020-01-01T12:00:00Z' WHERE tenant_id = ${tenant}`.execute(
    database.db,
  );
  const [, , last] = (await sql<{ hash: string }>`SELECT encode(hash, 'hex') AS hash FROM audit_trail
    WHERE tenant_id = ${tenant} ORDER BY seq`.execute(database.db)).rows; // oxfmt-ignore
  // No record of the chain: somebody put it there.
  await sql`INSERT INTO audit_trail
    SELECT (jsonb_populate_record(r, '{"seq": 9000000000000000, "event_id": "forged"}')).* FROM audit_trail AS r
    WHERE tenant_id = ${tenant} AND seq = 1`.execute(database.db);
  await table.store(linesOf(some(2)));
  expect(await dropOldDays(database, 365 * DAY)).toEqual([day]);
  const lines = await new SqlCallHistory(database).exportChain(tenant, 0, 10);
  expect(lines.map((line) => readExportLine(line)?.place.previous)[0]).toBe(last?.hash);
  const each = async function* () {
    yield* lines;
  };
  expect(await verifyChain({ lines: each, checkpoints: [], publicKeys: [], first: 4 })).toMatchObject({
    first: 4,
    last: 5,
  });
});
