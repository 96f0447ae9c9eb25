// Links of the documentation lead somewhere: every file is there, and every heading in it.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const LEFT_OUT = ['.git', 'data', 'dist', 'node_modules'];
const PAGES = readdirSync(ROOT, { withFileTypes: true })
  .filter(({ name }) => !LEFT_OUT.includes(name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(ROOT, entry.name), { recursive: true, encoding: 'utf8' }).map((path) =>
          join(entry.name, path),
        )
      : [entry.name],
  )
  // What an example installs is not ours.
  .filter((path) => path.endsWith('.md') && !path.includes('node_modules'));

/** Without code, in which brackets are no links. */
const proseOf = (page: string) =>
  readFileSync(join(ROOT, page), 'utf8')
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, '`code`');

const linksOf = (page: string) =>
  [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^(?:https?|mailto):/.test(link));

/** As GitHub makes them. */
function anchorsOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function isDead(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), decodeURI(path));
  if (!existsSync(file)) return true;
  return anchor !== undefined && !(statSync(file).isFile() && anchorsOf(file).includes(anchor));
}

it.each(PAGES)('%s: its links lead somewhere', (page) => {
  expect(linksOf(page).filter((link) => isDead(page, link))).toEqual([]);
});
