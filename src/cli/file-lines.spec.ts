// linesOf: every line of a file as it stands there, however readings cut it, in memory that does not follow the size of the file.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeDir, tempDir } from '../../test/helpers/temp-tools.ts';
import { CliFailure } from './exit-code.ts';
import { linesOf } from './file-lines.ts';

let dir: string;
beforeAll(() => void (dir = tempDir()));
afterAll(() => removeDir(dir));

function fileOf(content: string | Buffer): string {
  const path = join(dir, 'lines');
  writeFileSync(path, content);
  return path;
}

async function allOf(path: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(path)) lines.push(line);
  return lines;
}

it('gives each line as it was written, wherever a reading ends', async () => {
  // Around 64 KiB, and characters of several bytes across it.
  const long = fc.integer({ min: 65_530, max: 65_540 }).map((count) => 'x'.repeat(count));
  const wide = fc.integer({ min: 21_840, max: 21_850 }).map((count) => '€'.repeat(count));
  const line = fc.oneof(
    fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', '')),
    long,
    wide,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.boolean(), async (lines, endsWithBreak) => {
      const path = fileOf(lines.map((each) => `${each}\n`).join('') + (endsWithBreak ? '' : 'last'));
      expect(await allOf(path)).toEqual([...lines, ...(endsWithBreak ? [] : ['last'])]);
    }),
    { numRuns: 60 },
  );
});

it('refuses a line that no record is as long as, and names the file', async () => {
  const path = fileOf(Buffer.alloc((32 << 20) + 1, 'x'));
  await expect(allOf(path)).rejects.toThrow(CliFailure);
  await expect(allOf(path)).rejects.toThrow(`${path} cannot be read: a line is longer than 33554432 bytes`);
  await expect(allOf(join(dir, 'away'))).rejects.toThrow(/away cannot be read: .*ENOENT/);
});

it('takes as much memory for a large file as for a small one', async () => {
  /** The most bytes that buffers had while it was read. */
  const mostFor = async (megabytes: number) => {
    const path = fileOf(`${'x'.repeat(1_023)}\n`.repeat(megabytes * 1024));
    const before = process.memoryUsage().arrayBuffers;
    let [most, count] = [0, 0];
    for await (const text of linesOf(path)) {
      count += text.length === 1_023 ? 1 : 0;
      if (count % 128 === 0) most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(count).toBe(megabytes * 1024);
    return most;
  };
  for (const megabytes of [2, 40]) expect(await mostFor(megabytes)).toBeLessThan(1 << 20);
});
