// Specs of JournalSegments, on a disk that fails on demand.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { FakeSegments } from '../../../test/helpers/fake-segments.ts';
import { JournalSegments } from './journal-segments.ts';

const bytes = (text: string) => Buffer.from(text);

async function opened(disk = new FakeSegments()) {
  const clock = new FakeClock();
  return { disk, clock, segments: await JournalSegments.open(disk, clock) };
}

describe('JournalSegments', () => {
  it('counts what is in the file that is written and in the complete ones, until they are dropped', async () => {
    const { segments, clock } = await opened();
    const since = clock.wall();
    await segments.append(bytes('{"n":1}\n'), 1, false);
    await clock.advance(5);
    await segments.end();
    await segments.append(bytes('{"n":2}\n{"n":3}\n'), 2, false);
    expect([segments.records, segments.bytes, segments.oldest]).toEqual([3, 24, since]);
    expect(segments.complete.map(({ records }) => records)).toEqual([1]);
    for (const segment of segments.complete) await segments.drop(segment);
    expect([segments.records, segments.bytes, segments.oldest]).toEqual([2, 16, since + 5]);
  });

  it('goes on with the files that an earlier process left', async () => {
    const { disk, segments } = await opened();
    await segments.append(bytes('{"n":1}\n'), 1, false);
    const next = await opened(disk.crashed());
    expect(next.segments.complete.map(({ records }) => records)).toEqual([1]);
    expect(next.segments.records).toBe(1);
  });

  it('a file that was written once more after a failure says that its records may be there twice', async () => {
    const { disk, segments } = await opened();
    disk.fail(1);
    await expect(segments.append(bytes('{"n":1}\n'), 1, false)).rejects.toThrow('disk failed');
    await segments.end();
    await segments.append(bytes('{"n":1}\n'), 1, true);
    await segments.end();
    expect(segments.complete.map(({ mayRepeat }) => mayRepeat)).toEqual([false, true]);
  });

  it('leaves no file of which nothing is used', async () => {
    const { disk, segments } = await opened();
    await segments.end();
    expect(disk.files.size).toBe(0);
    expect(segments.complete).toEqual([]);
  });

  it('is full at one mebibyte, and says so of the file that is written alone', async () => {
    const { segments } = await opened();
    await segments.append(Buffer.alloc(1 << 20, 'x'), 1, false);
    expect(segments.isCurrentFull).toBe(true);
    await segments.end();
    expect(segments.isCurrentFull).toBe(false);
  });
});
