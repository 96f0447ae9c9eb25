// Acts of operators that leave an audit record: docs/audit.md names each, and none besides.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const API = join(ROOT, 'src/api');
const RECORDED = /@Recorded\(\s*'([a-z._]+)'|\baction: '([a-z]+\.[a-z._]+)'/g;

const recorded = readdirSync(API, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .flatMap((file) => [...readFileSync(join(API, file), 'utf8').matchAll(RECORDED)])
  .map(([, decorated, performed]) => decorated ?? performed);

/** Rows such as "| `keys` | `create`, `revoke` |", below the heading. */
function documented(): string[] {
  const [, section = ''] = readFileSync(join(ROOT, 'docs/audit.md'), 'utf8').split(
    '\n### Acts of operators\n',
  );
  const rows = (section.split('\n#')[0] ?? '').matchAll(/^\| `([a-z]+)`\s*\|(.*)\|$/gm);
  return [...rows].flatMap(([, resource, verbs = '']) =>
    [...verbs.matchAll(/`([a-z._]+)`/g)].map(([, verb]) => `${resource}.${verb}`),
  );
}

it('docs/audit.md has every act that the doors record, and no other', () => {
  const acts = [...new Set(recorded.filter((act) => act !== undefined))].toSorted();
  expect(acts.length).toBeGreaterThan(40);
  expect(documented().toSorted()).toEqual(acts);
});
