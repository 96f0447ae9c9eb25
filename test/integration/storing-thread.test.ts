// The thread that chains and stores records where there are many: on both kinds of database, together with the thread of the calls.
import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditLine, chainedJson } from '../../src/infra/audit/audit-line.ts';
import { isDataError } from '../../src/infra/audit/audit-shipper.ts';
import { SqlAuditTable } from '../../src/infra/audit/audit-table.ts';
import { recordOf, TRAIL_ROW, type TrailRow } from '../../src/infra/audit/chain/trail-columns.ts';
import { StoringThread } from '../../src/infra/audit/storing/storing-thread.ts';
import { chainHash, FIRST_PREVIOUS } from '../../src/lib/audit-chain/chained-record.ts';
import { auditRecord, intentRecord } from '../helpers/audit-kit.ts';
import { embeddedDatabase, postgresDatabase, type TestDatabase } from '../helpers/databases.ts';
import { eventually } from '../helpers/eventually.ts';

describe.each([
  ['embedded', embeddedDatabase],
  ['elsewhere', postgresDatabase],
])('StoringThread, with a database that is %s', (_where, open) => {
  let there: TestDatabase;
  let here: SqlAuditTable;
  let thread: StoringThread;
  beforeAll(async () => {
    there = await open();
    here = new SqlAuditTable(await there.database.opened(), 'gateway-1');
    const settings = await there.database.writerSettings();
    thread = await StoringThread.start({ settings, gateway: 'gateway-1' });
  });
  afterAll(async () => {
    await thread?.end();
    await there?.end();
  });

  const piece = (tenant: string, count: number) =>
    Buffer.from(Array.from({ length: count }, () => auditLine(auditRecord({ tenant }))).join(''));
  const rowsOf = async (tenant: string) => {
    const { rows } = await sql<TrailRow>`SELECT ${TRAIL_ROW} FROM audit_trail WHERE tenant_id = ${tenant}
      ORDER BY seq`.execute(there.database.owner);
    return rows;
  };

  it('makes one chain of what both threads store, and leaves the lines as they were', async () => {
    for (let round = 0; round < 3; round += 1) {
      const lines = piece('acme', 40);
      const before = Buffer.from(lines);
      await thread.store(lines, true);
      expect(lines.equals(before)).toBe(true);
      await here.store(piece('acme', 7), true);
    }
    const rows = await rowsOf('acme');
    expect(rows.length).toBe(3 * 47);
    let previous = FIRST_PREVIOUS;
    rows.forEach((row, index) => {
      const place = { previous, recordedAt: row.recorded_at.toISOString(), seq: index + 1, tenant: 'acme' };
      expect(row.hash).toBe(chainHash(chainedJson(recordOf(row), row.personal_hash ?? ''), place));
      previous = row.hash;
    });
  });

  it('gives way to the thread that answers calls, and that one keeps its priority', () => {
    const own = getPriority();
    const threads = readdirSync('/proc/self/task').map((id) => getPriority(Number(id)));
    expect(threads).toContain(Math.min(19, own + 5));
    expect(getPriority(process.pid)).toBe(own);
  });

  it('does not rest again and again where each turn of the event loop is long', async () => {
    let turns = 0;
    let isOver = false;
    const turn = () => {
      if (isOver) return;
      turns += 1;
      const until = performance.now() + 120;
      while (performance.now() < until);
      setImmediate(turn);
    };
    const lines = piece('slow', 6_000);
    turn();
    await here.store(lines, true).finally(() => (isOver = true));
    expect((await rowsOf('slow')).length).toBe(6_000);
    // All rests together would be sixty.
    expect(turns).toBeLessThan(50);
  });

  it('stores once what comes again, and keeps the call of an intent as that of its gateway', async () => {
    const intent = intentRecord({ tenant: 'twice' });
    const lines = Buffer.from(auditLine(intent));
    await thread.store(lines, true);
    await thread.store(lines, false);
    expect((await rowsOf('twice')).length).toBe(1);
    const { rows } = await sql`SELECT owner, status FROM calls WHERE id = ${intent.callId}`.execute(
      there.database.db,
    );
    expect(rows).toEqual([{ owner: 'gateway-1', status: 'running' }]);
  });

  it('says which lines can never be stored, and goes on', async () => {
    const refused = [
      'no record at all\n',
      auditLine(auditRecord({ tenant: 'odd', at: 'never' })),
      auditLine(auditRecord({ tenant: 'odd', attempts: 10 ** 12 })),
    ];
    for (const line of refused) {
      const error: unknown = await thread.store(Buffer.from(line), true).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect([line, isDataError(error)]).toEqual([line, true]);
    }
    await thread.store(piece('odd', 1), true);
    expect((await rowsOf('odd')).length).toBe(1);
  });

  it('logs in as who may not change what is stored, where that is not the owner of the tables', async () => {
    const settings = await there.database.writerSettings();
    const user = settings.kind === 'embedded' ? settings.login.user : 'root_of_all';
    const { rows } = await sql<{
      may: boolean;
    }>`SELECT has_table_privilege(${user}, 'audit_trail', 'UPDATE') AS may`.execute(there.database.owner);
    expect(rows).toEqual([{ may: !there.database.isAppendOnly }]);
  });

  it('leaves no connection when it is ended, and stores nothing any more', async () => {
    const connections = async () => {
      const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM pg_stat_activity
        WHERE application_name = 'unified-tool-executor'`.execute(there.database.owner);
      return rows[0]?.count ?? 0;
    };
    const before = await connections();
    const [stored] = await Promise.allSettled([thread.store(piece('late', 500), true), thread.end()]);
    await eventually(async () => expect(await connections()).toBe(before - 1));
    expect(thread.hasEnded).toBe(true);
    await expect(thread.store(piece('late', 1), true)).rejects.toThrow('has ended');
    // All of it or nothing, and all where that was said.
    const counts = stored.status === 'fulfilled' ? [500] : [0, 500];
    expect(counts).toContain((await rowsOf('late')).length);
    await here.store(piece('late', 1), false);
  });
});
