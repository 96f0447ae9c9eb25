// Specs of StoredAuditSink and what is under it, on a disk and a table that fail on demand.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auditRecord, intentRecord } from '../../../test/helpers/audit-kit.ts';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeAuditTable } from '../../../test/helpers/fake-audit-table.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import { FakeSegments } from '../../../test/helpers/fake-segments.ts';
import { auditLine } from './audit-line.ts';
import { StoredAuditSink, type StoredAuditOptions } from './stored-audit-sink.ts';

const DOWN = { type: 'UNAVAILABLE', reason: 'AUDIT_UNAVAILABLE' };

async function opened(changes: Partial<StoredAuditOptions> = {}) {
  const [clock, table, metrics, log] = [
    new FakeClock(),
    new FakeAuditTable(),
    recordingMetrics(),
    recordingLog(),
  ];
  const storage = changes.storage ?? new FakeSegments();
  const sink = await StoredAuditSink.open({
    path: '/nowhere',
    table,
    intents: 'database',
    maxBacklogBytes: 1 << 20,
    clock,
    log,
    metrics,
    random: () => 0.5,
    ...changes,
    storage,
  });
  return { sink, clock, table, metrics, log, disk: storage as FakeSegments };
}

describe('StoredAuditSink', () => {
  it('moves what was written into the table within a second or so, and keeps no copy', async () => {
    const { sink, clock, table, disk, metrics } = await opened();
    await Promise.all(['a', 'b', 'c'].map((callId) => sink.write(auditRecord({ callId }))));
    expect(table.rows.size).toBe(0);
    await clock.advance(1_000);
    expect(metrics.values.get('ute_audit_pending_records')).toBe(3);
    await settled();
    await clock.advance(1_000);
    expect(table.calls).toEqual(['a', 'b', 'c']);
    expect(disk.text).toBe('');
    expect(metrics.values.get('ute_audit_pending_records')).toBe(0);
    expect(metrics.values.get('ute_audit_records_total')).toBe(3);
  });

  it('keeps everything while the database is away, tells how late it is, and catches up', async () => {
    const { sink, clock, table, metrics } = await opened();
    table.down = true;
    for (let index = 0; index < 10; index += 1) {
      await sink.write(auditRecord({ callId: `c${index}` }));
      await clock.advance(2_000);
    }
    expect(table.rows.size).toBe(0);
    expect(metrics.values.get('ute_audit_lag_seconds')).toBeGreaterThan(15);
    table.down = false;
    await clock.advance(20_000);
    expect(table.calls).toEqual(Array.from({ length: 10 }, (_, index) => `c${index}`));
    await clock.advance(2_000);
    expect(metrics.values.get('ute_audit_lag_seconds')).toBe(0);
  });

  it('a commit whose answer is lost is stored again and is there once', async () => {
    const { sink, table, disk } = await opened();
    await sink.write(auditRecord({ callId: 'a' }));
    table.forgetful = true;
    await expect(sink.ship()).rejects.toThrow('connection lost');
    expect(disk.lines).toHaveLength(1);
    table.forgetful = false;
    await sink.ship();
    expect(table.calls).toEqual(['a']);
    expect(disk.text).toBe('');
  });

  it('a record that the database refuses is put aside and holds up no other', async () => {
    const { sink, table, disk, metrics } = await opened();
    table.poison = 'c3';
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => sink.write(auditRecord({ callId: `c${index}` }))),
    );
    await sink.ship();
    expect(table.calls).toEqual(['c0', 'c1', 'c2', 'c4', 'c5', 'c6', 'c7']);
    expect(disk.rejected).toHaveLength(1);
    expect(disk.rejected[0]).toContain('"c3"');
    expect(metrics.values.get('ute_audit_rejected_total')).toBe(1);
  });

  it('a record that the database refuses is put aside once, however often the rest of its file is tried', async () => {
    const { sink, table, disk, metrics } = await opened();
    table.poison = 'c0';
    await Promise.all([0, 1, 2, 3].map((index) => sink.write(auditRecord({ callId: `c${index}` }))));
    const store = table.store.bind(table);
    table.store = async (lines) => {
      if (disk.rejected.length === 1) throw new Error('connection lost');
      await store(lines);
    };
    await expect(sink.ship()).rejects.toThrow('connection lost');
    table.store = store;
    await sink.ship();
    expect(table.calls).toEqual(['c1', 'c2', 'c3']);
    expect(disk.rejected).toHaveLength(1);
    expect(metrics.values.get('ute_audit_rejected_total')).toBe(1);
  });

  it('after a crash, ships what was on disk and leaves out the line that was cut short', async () => {
    const before = await opened();
    await before.sink.write(auditRecord({ callId: 'a' }));
    const disk = before.disk.crashed();
    for (const file of disk.files.values())
      file.text += auditLine(auditRecord({ callId: 'torn' })).slice(0, 50);
    const { sink, table, log } = await opened({ storage: disk });
    await sink.ship();
    expect(table.calls).toEqual(['a']);
    expect(log.lines).toMatchObject([
      { level: 'warn', message: 'an audit record that a crash cut short was left out' },
    ]);
  });

  it('commits the intents of calls that come together with one statement', async () => {
    const { sink, table } = await opened();
    await Promise.all(Array.from({ length: 300 }, () => sink.intend(intentRecord())));
    expect(table.intents.length).toBeLessThanOrEqual(3);
    expect(table.rows.size).toBe(300);
  });

  it('refuses a call whose intent the database does not take, in two seconds at most, and the next ones at once, and counts each', async () => {
    const { sink, table, clock, metrics } = await opened();
    table.hanging = true;
    const refused = sink.intend(intentRecord()).catch((error: unknown) => error);
    await clock.advance(2_000);
    expect(await refused).toMatchObject(DOWN);
    await expect(sink.intend(intentRecord())).rejects.toMatchObject(DOWN);
    expect(metrics.values.get('ute_audit_refused_calls_total')).toBe(2);
    table.hanging = false;
    await clock.advance(500);
    await sink.intend(intentRecord());
    expect(metrics.values.get('ute_audit_refused_calls_total')).toBe(2);
    expect(table.rows.size).toBe(1);
  });

  it('with the database on the same disk, an intent goes to the journal', async () => {
    const { sink, table, disk } = await opened({ intents: 'journal' });
    await sink.intend(intentRecord());
    expect(table.intents).toEqual([]);
    expect(disk.crashed().lines).toHaveLength(1);
  });

  it('a best-effort record that does not fit the buffer is counted, and the gap is on record', async () => {
    const { sink, clock, table, metrics } = await opened({ maxBacklogBytes: 2_000 });
    table.down = true;
    for (let index = 0; index < 10; index += 1) {
      sink.offer(() => auditRecord({ callId: `c${index}`, tenant: index < 8 ? 'acme' : 'umbrella' }));
      await clock.advance(20);
    }
    const dropped = metrics.values.get('ute_audit_dropped_total') ?? 0;
    expect(dropped).toBeGreaterThan(3);
    table.down = false;
    await clock.advance(5_000);
    await sink.flush();
    await sink.ship();
    const gaps = [...table.rows.values()].filter((row) => row['kind'] === 'gap');
    const missing = gaps.map((row) => (row['notes'] as { dropped: number }).dropped);
    expect(new Set(gaps.map((row) => row['tenant_id']))).toEqual(new Set(['acme', 'umbrella']));
    expect(missing.reduce((sum, count) => sum + count, 0)).toBe(dropped);
  });

  it('what ran and could not be kept while the disk failed is a gap on record; what is written later is none', async () => {
    const { sink, clock, table, disk, metrics } = await opened();
    disk.fail(2);
    const told = [await sink.write(auditRecord({ callId: 'put off' })).catch((error: unknown) => error)];
    for (const callId of ['a', 'b'])
      told.push(
        await sink.write(auditRecord({ callId, tenant: 'umbrella' })).catch((error: unknown) => error),
      );
    expect(told).toMatchObject([DOWN, DOWN, DOWN]);
    await clock.advance(5_000);
    await sink.flush();
    await sink.ship();
    const rows = [...table.rows.values()];
    expect(rows.map((row) => [row['kind'], row['tenant_id'], row['notes'] ?? row['call_id']])).toEqual([
      ['outcome', 'acme', 'put off'],
      ['gap', 'umbrella', { dropped: 2 }],
    ]);
    expect(metrics.values.get('ute_audit_dropped_total')).toBe(2);
    expect(metrics.values.get('ute_audit_records_total')).toBe(1);
  });

  it('a record that cannot be written out is refused and a gap on record', async () => {
    const { sink, metrics } = await opened();
    const unwritable = auditRecord({ notes: { count: 1n as never } });
    await expect(sink.write(unwritable)).rejects.toThrow('BigInt');
    await sink.ship();
    expect(metrics.values.get('ute_audit_dropped_total')).toBe(1);
    expect(metrics.values.get('ute_audit_records_total')).toBeUndefined();
  });

  it('a record that cannot be made or written out alone is refused of its group, and a gap on record', async () => {
    const { sink, table, metrics } = await opened();
    const wrong = () => {
      throw new Error('must be a JSON value to be hashed');
    };
    const unwritable = () => auditRecord({ tenant: 'umbrella', notes: { count: 1n as never } });
    const told = await Promise.all(
      [() => auditRecord({ callId: 'a' }), wrong, unwritable].map((make) => sink.writeMade(make)),
    );
    expect(told.map((unmade) => [...(unmade?.keys() ?? [])])).toEqual(
      [1, 2, 3].map(() => [wrong, unwritable]),
    );
    await sink.close(1_000);
    const rows = [...table.rows.values()].map((row) => [row['kind'], row['tenant_id']]);
    expect(rows).toEqual([
      ['outcome', 'acme'],
      ['gap', ''],
      ['gap', 'umbrella'],
    ]);
    expect(metrics.values.get('ute_audit_dropped_total')).toBe(2);
    expect(metrics.values.get('ute_audit_records_total')).toBe(1);
  });

  it('a record that cannot be made in the last group is a gap on record all the same', async () => {
    const { sink, table } = await opened();
    const told = sink.writeMade(() => {
      throw new Error('must be a JSON value to be hashed');
    });
    await sink.close(1_000);
    expect((await told)?.size).toBe(1);
    expect([...table.rows.values()].map((row) => row['kind'])).toEqual(['gap']);
  });

  it('an offered record that cannot be made is a gap on record, and ends nothing', async () => {
    const { sink, clock, table, metrics } = await opened();
    sink.offer(() => {
      throw new Error('must be a JSON value to be hashed');
    });
    sink.offer(() => auditRecord({ callId: 'next' }));
    await clock.advance(2_500);
    expect(metrics.values.get('ute_audit_dropped_total')).toBe(1);
    expect(table.rows.size).toBe(2);
    expect([...table.rows.values()].map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['gap', 'outcome']),
    );
    await sink.close();
  });

  it('closes with everything shipped where it can, and on disk where it cannot', async () => {
    const { sink, table } = await opened();
    await sink.write(auditRecord({ callId: 'a' }));
    await sink.close(1_000);
    expect(table.calls).toEqual(['a']);
    const away = await opened();
    away.table.down = true;
    await away.sink.write(auditRecord({ callId: 'b' }));
    await away.sink.close(1_000);
    expect(away.disk.crashed().lines).toHaveLength(1);
  });

  it('closes in the time it is given, whatever the database does, and leaves what is not shipped to the next start', async () => {
    const { sink, table, clock, disk } = await opened();
    await sink.write(auditRecord({ callId: 'a' }));
    table.hanging = true;
    await clock.advance(1_500);
    const closed = sink.close(3_000).then(() => 'closed');
    await clock.advance(2_999);
    expect(await Promise.race([closed, settled()])).toBeUndefined();
    await clock.advance(1);
    expect(await closed).toBe('closed');
    const next = await opened({ storage: disk.crashed() });
    await next.clock.advance(2_500);
    expect(next.table.calls).toEqual(['a']);
  });

  it('refuses an action within two seconds where the database hangs, also those that come while others wait', async () => {
    const { sink, table, clock } = await opened();
    table.hanging = true;
    const first = sink.intend(intentRecord()).catch((error: unknown) => error);
    await clock.advance(500);
    const second = sink.intend(intentRecord()).catch((error: unknown) => error);
    await clock.advance(2_000);
    expect(await Promise.race([Promise.all([first, second]), settled()])).toMatchObject([DOWN, DOWN]);
  });

  it('loses no record of which it said that it is kept, and stores none twice, whatever fails in between', async () => {
    const anyStep = fc.constantFrom('write', 'make', 'make', 'down', 'up', 'forget', 'disk', 'wait', 'crash');
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
        let now = await opened();
        const { table } = now;
        const promised: string[] = [];
        for (const [index, step] of steps.entries()) {
          if (step === 'write' || step === 'make') {
            const record = auditRecord({ callId: `c${index}` });
            const written = step === 'write' ? now.sink.write(record) : now.sink.writeMade(() => record);
            const kept = written.then(
              () => promised.push(`c${index}`),
              () => undefined,
            );
            await settled();
            if (index % 2 === 0) await Promise.race([kept, settled()]);
          } else if (step === 'wait') await now.clock.advance(1_500);
          else if (step === 'disk') now.disk.fail(2, 10);
          else if (step === 'crash') {
            now = { ...(await opened({ storage: now.disk.crashed(), table })), table };
          } else {
            table.down = step === 'down';
            table.forgetful = step === 'forget';
          }
        }
        table.down = false;
        table.forgetful = false;
        for (let turn = 0; turn < 4; turn += 1) await now.clock.advance(10_000);
        expect(promised.filter((id) => !table.calls.includes(id))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
