// The check of a chain holds no more of many records than of few: in a process of its own, since a heap is everybody's in it.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const PROGRAM = resolve(import.meta.dirname, '../helpers/heap-of-verify.ts');

it('is as large after ten times as many records', () => {
  const said = execFileSync(process.execPath, ['--expose-gc', PROGRAM], { encoding: 'utf8' });
  const { held, ...verdict } = JSON.parse(said) as { readonly held: readonly [number, number] };
  expect(verdict).toEqual({ finding: null, records: 100_000, erased: 50_000 });
  // Ten bytes for each record would be more.
  expect(held[1] - held[0]).toBeLessThan(900_000);
});
