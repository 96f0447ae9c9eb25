// Specs of the pace of AuditShipper: how much of its own process it leaves to the calls.
import { describe, expect, it } from 'vitest';
import { auditRecord } from '../../../test/helpers/audit-kit.ts';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { FakeSegments } from '../../../test/helpers/fake-segments.ts';
import { AuditJournal } from './audit-journal.ts';
import { auditLine } from './audit-line.ts';
import { AuditShipper } from './audit-shipper.ts';

const CHUNK_MS = 50;
const RECORDS = 1_200;

/** A journal of three chunks, and a table that takes 50 ms for each. */
async function opened(maxBacklogBytes = 100 << 20) {
  const [clock, storage] = [new FakeClock(), new FakeSegments()];
  const journal = await AuditJournal.open({ storage, clock, maxBacklogBytes });
  for (let n = 0; n < RECORDS; n += 1) journal.offer(auditLine(auditRecord({ callId: `c${n}` })));
  await journal.flush();
  const chunks: number[] = [];
  const shipper = new AuditShipper({
    journal,
    storage,
    table: {
      async store(lines) {
        chunks.push(lines.length);
        await new Promise<void>((done) => clock.after(CHUNK_MS, done));
      },
    },
    clock,
    log: recordingLog(),
    rejected: recordingMetrics().counter({ name: 'rejected', help: '' }).with(),
    random: () => 0.5,
    lingerMs: () => 0,
    restFactor: 9,
  });
  shipper.start();
  await clock.advance(1_000);
  return { clock, shipper, journal, chunks };
}

describe('AuditShipper beside calls', () => {
  it('an embedded database works for a tenth of the time', async () => {
    const { clock, chunks, journal } = await opened();
    await clock.advance(10 * CHUNK_MS - 1);
    expect(chunks).toEqual([500]);
    await clock.advance(1);
    expect(chunks).toEqual([500, 500]);
    await clock.advance(20 * CHUNK_MS);
    expect(chunks).toEqual([500, 500, 200]);
    expect(journal.pending).toBe(0);
  });

  it('does not rest while somebody waits for the records', async () => {
    const { clock, shipper, chunks } = await opened();
    const shipped = shipper.ship();
    await clock.advance(3 * CHUNK_MS);
    await shipped;
    expect(chunks).toEqual([500, 500, 200]);
  });

  it('does not rest while the journal fills its room', async () => {
    const { clock, chunks } = await opened(500_000);
    await clock.advance(3 * CHUNK_MS);
    expect(chunks).toEqual([500, 500, 200]);
  });

  it('ends its rest when it is stopped, and leaves nothing half done', async () => {
    const { clock, shipper, journal } = await opened();
    const stopped = shipper.stop();
    await clock.advance(3 * CHUNK_MS);
    await stopped;
    expect(journal.pending).toBe(0);
  });
});
