// The shelves are complete: a plugin that has a folder is listed, tested and documented. No checklist to remember.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERROR_TYPES } from '../../src/contract/call/error-types.ts';
import { EXECUTORS } from '../../src/executors/index.ts';
import { REQUEST_EXTENSIONS, TOOL_EXTENSIONS } from '../../src/extensions/index.ts';
import { LOADERS } from '../../src/loaders/index.ts';

const ROOT = resolve(import.meta.dirname, '../..');

interface Listed {
  readonly name: string;
  readonly summary: string;
}

interface Shelf {
  readonly folder: 'executors' | 'extensions' | 'loaders';
  readonly listed: readonly Listed[];
  /** The reference page of one plugin, below docs/reference. */
  readonly page: (name: string) => string;
}

const SHELVES: readonly Shelf[] = [
  { folder: 'executors', listed: EXECUTORS, page: (name) => `executor-${name}.md` },
  { folder: 'extensions', listed: [...REQUEST_EXTENSIONS, ...TOOL_EXTENSIONS], page: () => 'extensions.md' },
  { folder: 'loaders', listed: LOADERS, page: () => 'loaders.md' },
];

const foldersOf = (shelf: string) =>
  readdirSync(join(ROOT, 'src', shelf), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
const testFiles = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.test.ts'),
);
const reference = (page: string) => readFileSync(join(ROOT, 'docs/reference', page), 'utf8');

describe.each(SHELVES)('the shelf of $folder', ({ folder, listed, page }) => {
  it('lists every folder under its own name, and nothing else', () => {
    expect(listed.map(({ name }) => name).toSorted()).toEqual(foldersOf(folder).toSorted());
  });

  it.each(foldersOf(folder))('%s has tests of its own', (name) => {
    const beside = readdirSync(join(ROOT, 'src', folder, name)).filter((file) => file.endsWith('.spec.ts'));
    const elsewhere = testFiles.filter((path) => path.includes(`${name}-${folder.slice(0, -1)}`));
    expect([...beside, ...elsewhere]).not.toEqual([]);
  });

  it.each(listed)('$name has a summary of one line, which its reference page shows', ({ name, summary }) => {
    expect(summary).toMatch(/^[A-Z][^\n]{10,200}\.$/);
    expect(reference(page(name))).toContain(`\`${name}\``);
    expect(reference(page(name))).toContain(summary);
  });
});

it('every error type stands on its reference page', () => {
  const text = reference('errors.md');
  for (const type of Object.keys(ERROR_TYPES)) expect(text).toContain(`\`${type}\``);
});

it('what the picture of the README names is on the shelves, the extensions in their order', () => {
  const picture = readFileSync(join(ROOT, 'docs/gateway.svg'), 'utf8');
  const words = [...picture.matchAll(/class="code"[^>]*>([^<]+)</g)].flatMap(([, text = '']) =>
    text.split(' '),
  );
  const named = (listed: readonly Listed[]) =>
    listed.map(({ name }) => name).filter((name) => words.includes(name));
  expect(words).toEqual([
    ...named([...REQUEST_EXTENSIONS, ...TOOL_EXTENSIONS]),
    ...words.filter((word) => named(EXECUTORS).includes(word)),
  ]);
});
