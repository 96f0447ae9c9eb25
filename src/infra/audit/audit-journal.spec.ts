// Specs of AuditJournal on a disk that fails, stalls and crashes on demand.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import { auditRecord } from '../../../test/helpers/audit-kit.ts';
import { FakeSegments } from '../../../test/helpers/fake-segments.ts';
import type { RecordMaker } from '../../ports/audit-sink.ts';
import { AuditJournal, type JournalOptions } from './audit-journal.ts';

const DOWN = { type: 'UNAVAILABLE', reason: 'AUDIT_UNAVAILABLE' };

async function opened(changes: Partial<JournalOptions> = {}) {
  const clock = new FakeClock();
  const disk = new FakeSegments();
  const journal = await AuditJournal.open({
    storage: disk,
    clock,
    maxBacklogBytes: 1 << 20,
    lineOf,
    ...changes,
  });
  return { journal, clock, disk };
}

const line = (name: string | number) => `{"n":"${name}"}\n`;
/** Of a maker: the line of its call. */
const lineOf = (make: RecordMaker) => line(make().callId);
const makerOf = (name: string | number) => () => auditRecord({ callId: String(name) });

/** A group is being written, until `finish` is called. */
async function writing() {
  const { journal, disk, clock } = await opened();
  const finish = disk.stall();
  const first = journal.append(line(0));
  await settled();
  return { journal, disk, clock, first, finish };
}

/** Lets the fake disk and the group's timer do their work. */
async function worked(clock: FakeClock) {
  for (let turn = 0; turn < 4; turn += 1) {
    await settled();
    await clock.advance(2);
  }
}

describe('AuditJournal', () => {
  it('resolves when the line is synced, not when it is written', async () => {
    const { journal, disk, clock } = await opened();
    const finish = disk.stall();
    let kept = false;
    const appended = journal.append(line(1)).then(() => (kept = true));
    await worked(clock);
    expect(disk.text).toBe(line(1));
    expect(kept).toBe(false);
    finish();
    await appended;
    expect(disk.crashed().text).toBe(line(1));
  });

  it('a line alone does not wait for others; those that come during a sync go together with the next', async () => {
    const { journal, disk, clock } = await opened();
    await journal.append(line(0));
    await settled();
    expect(disk.syncs).toBe(1);
    const finish = disk.stall();
    const first = journal.append(line(1));
    await settled();
    const others = Array.from({ length: 200 }, (_, index) => journal.append(line(index)));
    finish();
    await first;
    await worked(clock);
    await Promise.all(others);
    expect(disk.syncs).toBe(3);
  });

  it('makes the records of calls when their group is written, and not before', async () => {
    const { journal, disk, first, finish } = await writing();
    let made = 0;
    const others = Array.from({ length: 200 }, async (_, index) =>
      journal.appendMade(() => {
        made += 1;
        return makerOf(index)();
      }),
    );
    await settled();
    expect(made).toBe(0);
    expect(journal.pending).toBe(200);
    finish();
    await Promise.all([first, ...others]);
    expect(disk.crashed().lines).toHaveLength(201);
    expect(disk.syncs).toBe(2);
  });

  it('makes no more than 256 of them at once, however long the disk takes for those before', async () => {
    const { journal, disk, first, finish } = await writing();
    let made = 0;
    const maker = () => {
      made += 1;
      return auditRecord({ callId: 'x' });
    };
    const others = Array.from({ length: 600 }, async () => journal.appendMade(maker));
    expect(made).toBe(512);
    finish();
    await Promise.all([first, ...others]);
    expect(disk.lines).toHaveLength(601);
  });

  it('says which records of a group could not be made, and keeps the others', async () => {
    const { journal, disk } = await opened();
    const failure = new Error('no record of this');
    const wrong = () => {
      throw failure;
    };
    const told = await Promise.all(
      [makerOf(1), makerOf(2), wrong].map(async (make) => journal.appendMade(make)),
    );
    expect(told.map((unmade) => [...(unmade ?? [])])).toEqual([1, 2, 3].map(() => [[wrong, failure]]));
    expect(disk.text).toBe(line(1) + line(2));
    expect(await journal.appendMade(makerOf(3))).toBeUndefined();
  });

  it('tells those who wait also where none of a full group could be made', async () => {
    const { journal, first, finish } = await writing();
    const wrong = () => {
      throw new Error('no record of this');
    };
    const told = Array.from({ length: 256 }, async () => journal.appendMade(wrong));
    finish();
    await first;
    expect((await Promise.all(told)).every((unmade) => unmade?.has(wrong))).toBe(true);
    await journal.close();
  });

  it('takes what is not made yet as what a usual line has, and as its own length when it is made', async () => {
    const { journal, disk, clock } = await opened({ maxBufferedBytes: 1_100 });
    const finish = disk.stall();
    const kept = [1, 2].map(async (name) => journal.appendMade(makerOf(name)));
    expect(journal.appendMade(makerOf(3))).toBeUndefined();
    await worked(clock);
    const third = journal.appendMade(makerOf(3));
    expect(third).toBeDefined();
    finish();
    await Promise.all([...kept, third]);
    expect(journal.ready()).toBeUndefined();
    await journal.append(line('x'.repeat(1_000)));
  });

  it('writes what nobody waits for once in 20 ms, or together with the first line that somebody waits for', async () => {
    const { journal, disk, clock } = await opened();
    for (let index = 0; index < 10; index += 1) journal.offer(line(index));
    await clock.advance(19);
    expect(disk.syncs).toBe(0);
    await clock.advance(1);
    expect(disk.syncs).toBe(1);
    journal.offer(line('unhurried'));
    // Ten went before, but for none of them somebody waited: no time has to pass.
    await journal.append(line('waited for'));
    expect(disk.syncs).toBe(2);
    expect(disk.lines).toHaveLength(12);
  });

  it('tells those who wait when the disk fails, refuses others meanwhile, and keeps the records after all', async () => {
    const { journal, disk, clock } = await opened();
    disk.fail(3, 4);
    await expect(journal.append(line('first'))).rejects.toMatchObject(DOWN);
    expect(() => journal.ready()).toThrow(
      expect.objectContaining({ ...DOWN, cause: new Error('disk failed') }),
    );
    await expect(journal.append(line('second'))).rejects.toMatchObject(DOWN);
    expect(journal.offer(line('third'))).toBe(false);
    await clock.advance(100 + 200 + 400);
    await worked(clock);
    expect(journal.ready()).toBeUndefined();
    await journal.append(line('fourth'));
    expect(disk.lines).toEqual([line('first').trim(), line('fourth').trim()]);
  });

  it('lets in no call while half of the buffer is taken, waits a moment, then refuses', async () => {
    const { journal, disk, clock } = await opened({ maxBufferedBytes: 100 });
    const finish = disk.stall();
    const kept = Promise.all(Array.from({ length: 6 }, (_, index) => journal.append(line(index))));
    await settled();
    const entrance = journal.ready();
    expect(entrance).toBeInstanceOf(Promise);
    const asked = [Promise.resolve(entrance), journal.append(line('x'.repeat(60)))];
    const answers = Promise.allSettled(asked);
    await clock.advance(1_000);
    expect(await answers).toMatchObject([{ reason: DOWN }, { reason: DOWN }]);
    const patient = journal.ready();
    finish();
    await patient;
    await kept;
  });

  it('has no room for more while a file is closed', async () => {
    const { journal, disk } = await opened({ maxBacklogBytes: 20 });
    for (const name of [1, 2, 3]) await journal.append(line(name));
    expect(journal.isRefusing).toBe(true);
    const finish = disk.stall();
    const sealed = journal.seal();
    await settled();
    expect([journal.isRefusing, journal.pending, journal.sealed.length]).toEqual([true, 3, 0]);
    finish();
    await sealed;
    expect([journal.isRefusing, journal.pending, journal.sealed.length]).toEqual([true, 3, 1]);
  });

  it('lets in no call when what is on disk and not shipped has reached its bound', async () => {
    const { journal, disk } = await opened({ maxBacklogBytes: 50 });
    for (let index = 0; index < 6; index += 1) await journal.append(line(index));
    expect(() => journal.ready()).toThrow(expect.objectContaining(DOWN));
    expect(journal.offer(line(7))).toBe(false);
    // A call that runs already is recorded all the same.
    await journal.append(line(8));
    await journal.seal();
    for (const segment of journal.sealed) await journal.drop(segment);
    expect(journal.ready()).toBeUndefined();
    expect(disk.text).toBe('');
  });

  it('ends a file on demand and when it is large; what an earlier process left is first', async () => {
    const { journal, disk } = await opened();
    await journal.append(line('small'));
    await journal.seal();
    await journal.seal();
    const large = 'x'.repeat(1 << 20);
    await journal.append(line(large));
    await journal.flush();
    expect(journal.sealed).toHaveLength(2);
    expect(journal.pending).toBe(2);
    const next = await AuditJournal.open({
      storage: disk,
      clock: new FakeClock(),
      maxBacklogBytes: 1,
      lineOf,
    });
    expect(next.sealed.map(({ records }) => records)).toEqual([1, 1]);
    expect(next.pending).toBe(2);
  });

  it('closes with everything on disk, and takes nothing after', async () => {
    const { journal, disk } = await opened();
    expect(journal.offer(line(1))).toBe(true);
    await journal.close();
    expect(disk.text).toBe(line(1));
    await expect(journal.append(line(2))).rejects.toMatchObject(DOWN);
    await journal.close();
  });

  it('has every line on disk of which it said so, whatever fails in between', async () => {
    const anyStep = fc.oneof(
      fc.record({ fail: fc.integer({ min: 1, max: 3 }), after: fc.integer({ min: 0, max: 30 }) }),
      fc.constant('append' as const),
      fc.constant('make' as const),
      fc.constant('seal' as const),
      fc.constant('wait' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
        const { journal, disk, clock } = await opened();
        const promised: string[] = [];
        let count = 0;
        for (const step of steps) {
          if (typeof step === 'object') disk.fail(step.fail, step.after);
          else if (step === 'seal') await journal.seal();
          else if (step === 'wait') await clock.advance(500);
          else {
            const text = line((count += 1));
            const kept = step === 'append' ? journal.append(text) : journal.appendMade(makerOf(count));
            void kept?.then(
              () => promised.push(text.trim()),
              () => undefined,
            );
            if (count % 3 === 0) await settled();
          }
        }
        await worked(clock);
        const there = new Set(disk.crashed().lines);
        expect(promised.filter((text) => !there.has(text))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
