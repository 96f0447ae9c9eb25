// The rooms of the house: what lies in src, how much in one folder, and that the drawing and the code map show all of it.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const MOST_FILES = 16;
/** Those of a rule may be parts of folders, `infra/postgres`. */
type Rooms = Readonly<Record<string, readonly string[]>>;
const { ROOMS } = (await import(join(ROOT, '.dependency-cruiser.mjs'))) as { readonly ROOMS: Rooms };

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const entries = readdirSync(join(ROOT, 'src'), { withFileTypes: true });
const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);

function filesOfCode(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entry of readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.spec.ts')) continue;
    const folder = entry.parentPath.slice(ROOT.length + 1);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return counts;
}

describe('src', () => {
  it('holds main.ts, version.ts and folders alone', () => {
    const files = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
    expect(files.toSorted()).toEqual(['main.ts', 'version.ts']);
  });

  it(`has no folder of more than ${MOST_FILES} files of code`, () => {
    const crowded = [...filesOfCode()].filter(([, count]) => count > MOST_FILES);
    expect(crowded).toEqual([]);
  });

  it('has an import rule for every folder, and for none that is not there', () => {
    expect(Object.keys(ROOMS).toSorted()).toEqual(folders.toSorted());
  });
});

describe('the drawing of the rooms', () => {
  const drawing = read('docs/rooms.svg');
  const rows = [...drawing.matchAll(/class="room"[^>]*>([^<]+)</g)].map(([, name = '']) => name);

  it('shows every folder of src, and nothing else', () => {
    expect(rows.toSorted()).toEqual(folders.toSorted());
  });

  it('goes from the outside in: no folder may import from one above it', () => {
    const upwards = Object.entries(ROOMS).flatMap(([room, imported]) =>
      imported
        .map((path) => rows.indexOf(path.split('/')[0] ?? ''))
        .filter((row) => row !== -1 && row <= rows.indexOf(room))
        .map((row) => `${room} → ${rows[row]}`),
    );
    expect(upwards).toEqual([]);
  });

  it('has a mark for each of its rules', () => {
    const marks = [...drawing.matchAll(/<g>.*<\/g>/g)].map(([row]) => row.split('<circle').length - 1);
    const rules = rows.map(
      (room) =>
        new Set((ROOMS[room] ?? []).map((path) => path.split('/')[0]).filter((to) => rows.includes(to ?? '')))
          .size,
    );
    expect(marks).toEqual(rules);
  });
});

it('the code map of ARCHITECTURE.md has a row for every folder of src', () => {
  const map = read('docs/ARCHITECTURE.md');
  for (const folder of folders) expect(map).toMatch(new RegExp(`^\\| [^|]*\`src/${folder}/\``, 'm'));
});
