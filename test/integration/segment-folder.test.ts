// The audit journal's folder on a real disk: private, locked, and taken over from processes that died.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SegmentFolder } from '../../src/infra/audit/segment-folder.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-segments-'));
  path = join(dir, 'data', 'audit');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const bytes = (text: string) => Buffer.from(text);

describe('SegmentFolder', () => {
  it('makes its folder and files for its owner alone, one after another', async () => {
    const folder = await SegmentFolder.open(path);
    for (const text of ['a\n', 'b\n']) {
      const file = await folder.create();
      await file.append(bytes(text));
      await file.close();
    }
    expect(statSync(path).mode & 0o777).toBe(0o700);
    const [first, second] = await folder.leftovers();
    expect(statSync(first?.path ?? '').mode & 0o777).toBe(0o600);
    expect(String(await folder.read(first?.path ?? ''))).toBe('a\n');
    expect(String(await folder.read(second?.path ?? ''))).toBe('b\n');
    expect([first?.records, second?.bytes]).toEqual([1, 2]);
    await folder.remove(first?.path ?? '');
    expect(await folder.leftovers()).toHaveLength(1);
    await folder.release();
    expect(readdirSync(join(dir, 'data'))).toEqual(['audit']);
  });

  it('never writes into a file that is there already', async () => {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, '0000000041.jsonl'), 'left\n');
    writeFileSync(join(path, 'rejected.jsonl'), 'odd\n');
    const folder = await SegmentFolder.open(path);
    const file = await folder.create();
    expect(file.path).toBe(join(path, '0000000042.jsonl'));
    await file.close();
    expect((await folder.leftovers()).map((segment) => segment.records)).toEqual([1, 0]);
    await folder.release();
  });

  it('processes that share a data directory keep apart; what one left behind is taken over when it is dead', async () => {
    const first = await SegmentFolder.open(path);
    const second = await SegmentFolder.open(path);
    expect([first.path, second.path]).toEqual([path, `${path}-2`]);
    const file = await second.create();
    await file.append(bytes('of the second\n'));
    await file.close();
    const alive = await SegmentFolder.open(path);
    expect(alive.path).toBe(`${path}-3`);
    expect(await alive.leftovers()).toEqual([]);
    await alive.release();
    await first.release();
    // The second was killed: its lock names a process that is no more.
    writeFileSync(`${path}-2.lock`, '99999999 1\n');
    const next = await SegmentFolder.open(path);
    expect(next.path).toBe(path);
    expect(
      await Promise.all((await next.leftovers()).map(async ({ path: at }) => String(await next.read(at)))),
    ).toEqual(['of the second\n']);
    expect(existsSync(`${path}-2.lock`)).toBe(false);
    await next.release();
  });

  it('what was appended is what is read, whether the file was completed or its process was killed', async () => {
    const folder = await SegmentFolder.open(path);
    const groups = fc.array(fc.integer({ min: 1, max: 200_000 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(groups, fc.boolean(), async (sizes, isKilled) => {
        const lines = sizes.map((size, index) => `${String(index % 10).repeat(size)}\n`);
        const file = await folder.create();
        for (const line of lines) await file.append(bytes(line));
        if (!isKilled) await file.close();
        const onDisk = statSync(file.path).size;
        const left = (await folder.leftovers()).find(({ path: at }) => at === file.path);
        const read = await folder.read(file.path);
        if (isKilled) await file.close();
        await folder.remove(file.path);
        const whole = lines.join('');
        expect(read.equals(bytes(whole))).toBe(true);
        expect([left?.records, left?.bytes]).toEqual([lines.length, whole.length]);
        // The room of a large one may be left to it.
        const most = onDisk < 1 << 20 ? whole.length : (whole.length * 8) / 7;
        expect(onDisk).toBeLessThanOrEqual(isKilled ? 2 * whole.length : most);
      }),
      { numRuns: 30 },
    );
    await folder.release();
  });

  it('what is read is one file alone, whatever was read before it', async () => {
    const folder = await SegmentFolder.open(path);
    const sizes = [3_000, 20, 0, 1_500_000, 5_000_000, 400, 1_500_001];
    const texts = sizes.map((size, index) => `${index}`.repeat(size));
    for (const [index, text] of texts.entries()) {
      const own = join(path, `read-${index}`);
      writeFileSync(own, text);
      expect((await folder.read(own)).equals(bytes(text))).toBe(true);
    }
    await folder.release();
  });

  it('a byte that has become zero leaves out no record behind it', async () => {
    const folder = await SegmentFolder.open(path);
    const file = await folder.create();
    const lines = ['{"a":1}', '{"b": 2}', '{"c":3}'].map((line) => `${line}\n`);
    for (const line of lines) await file.append(bytes(line));
    const onDisk = readFileSync(file.path);
    const damaged = Buffer.from(onDisk);
    damaged[onDisk.indexOf(' ')] = 0;
    writeFileSync(file.path, damaged);
    const read = (await folder.read(file.path)).toString();
    expect(read).toBe(lines.join('').replace(' ', '\0'));
    expect(await folder.leftovers()).toMatchObject([{ records: 3 }]);
    await file.close();
    await folder.release();
  });

  it('a file that was being emptied when its process was killed holds nothing', async () => {
    mkdirSync(path, { recursive: true });
    const half = Buffer.concat([Buffer.alloc(5_000), bytes('of a record"}\n{"a":1}\n'), Buffer.alloc(100)]);
    writeFileSync(join(path, '0000000001.jsonl'), half);
    const folder = await SegmentFolder.open(path);
    expect(await folder.leftovers()).toMatchObject([{ records: 0, bytes: 0 }]);
    await folder.release();
  });

  it('room is made ahead: of many groups few make the file grow', async () => {
    const folder = await SegmentFolder.open(path);
    const file = await folder.create();
    const sizes = new Set<number>();
    for (let group = 0; group < 200; group += 1) {
      await file.append(Buffer.alloc(5_000, 'x'));
      sizes.add(statSync(file.path).size);
    }
    await file.close();
    expect(sizes.size).toBeLessThan(12);
    await folder.release();
  });

  it('a file that was made ahead is the next one, and a large one that was removed holds nothing and is used again', async () => {
    const folder = await SegmentFolder.open(path);
    const first = await folder.create();
    folder.prepare(3 << 19);
    folder.prepare(3 << 19);
    const second = await folder.create();
    expect([first.path, second.path]).toEqual(['01', '02'].map((end) => join(path, `00000000${end}.jsonl`)));
    expect(statSync(second.path).size).toBe(3 << 19);
    const secret = `${'secret'.repeat(240_000)}\n`;
    await second.append(bytes(secret));
    await second.close();
    expect((await folder.read(second.path)).toString()).toBe(secret);
    const { ino } = statSync(second.path);
    await folder.remove(second.path);
    expect(readFileSync(second.path).every((byte) => byte === 0)).toBe(true);
    folder.prepare(3 << 19);
    const third = await folder.create();
    expect([statSync(third.path).ino, existsSync(second.path)]).toEqual([ino, false]);
    await third.append(bytes('third\n'));
    expect((await folder.read(third.path)).toString()).toBe('third\n');
    for (const file of [first, third]) await file.close();
    folder.prepare(3 << 19);
    await folder.release();
    expect(readdirSync(path)).toEqual(['0000000001.jsonl', '0000000003.jsonl']);
  });

  it('leaves nothing and no lock where it is released while an emptied file becomes the next one', async () => {
    const folder = await SegmentFolder.open(path);
    const file = await folder.create();
    await file.append(Buffer.alloc(3 << 19, 'x'));
    await file.close();
    const removed = folder.remove(file.path);
    folder.prepare(3 << 19);
    await Promise.all([removed, folder.release()]);
    expect([readdirSync(path), readdirSync(join(dir, 'data'))]).toEqual([[], ['audit']]);
  });

  it('keeps what a database refuses, line by line', async () => {
    const folder = await SegmentFolder.open(path);
    await folder.reject(Buffer.from('{"a":1}\n'));
    await folder.reject(Buffer.from('{"a":2}\n'));
    expect((await folder.read(join(path, 'rejected.jsonl'))).toString()).toBe('{"a":1}\n{"a":2}\n');
    await folder.release();
  });

  it('does not open where it cannot write', async () => {
    appendFileSync(join(dir, 'data'), '');
    await expect(SegmentFolder.open(path)).rejects.toThrow(/EEXIST|ENOTDIR/);
  });
});
