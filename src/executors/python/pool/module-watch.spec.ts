import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import { ModuleWatch } from './module-watch.ts';

let dir: string;
let file: string;
let changes: string[];
let watch: ModuleWatch;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ute-watch-'));
  file = join(dir, 'm.py');
  writeFileSync(file, 'one');
  changes = [];
  watch = new ModuleWatch(new FakeClock(), (changed) => void changes.push(changed));
  await watch.add([file]);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('a watch over module files', () => {
  it('tells a change of the content once', async () => {
    writeFileSync(file, 'two');
    await watch.look();
    await watch.look();
    expect(changes).toEqual([file]);
  });

  it('takes a file that was only touched for the same', async () => {
    utimesSync(file, 1, 1);
    await watch.look();
    expect(changes).toEqual([]);
  });

  it('sees a content of the same size and time', async () => {
    utimesSync(file, 1, 1);
    await watch.look();
    writeFileSync(file, 'two');
    utimesSync(file, 1, 1);
    await watch.look();
    expect(changes).toEqual([file]);
  });

  it('takes a file that is gone for changed', async () => {
    rmSync(file);
    await watch.look();
    expect(changes).toEqual([file]);
  });
});
