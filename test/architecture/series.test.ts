// Series of metrics have one place, src/ports/telemetry/series: the reference page, the alerts and the dashboards are made from it.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { ALL_SERIES, SERIES_BY_AREA } from '../../src/ports/telemetry/series/all-series.ts';

const SRC = resolve(import.meta.dirname, '../../src');
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), 'utf8') }));
const elsewhere = files.filter(({ file }) => !file.startsWith('ports/telemetry/series/'));

it('no series is defined where it is used: add it to src/ports/telemetry/series', () => {
  const defined = /'(ute_[a-z0-9_]+(?:_total|_seconds|_bytes))'|name: '(ute_[a-z0-9_]+)',\s*help:/g;
  const strays = elsewhere.flatMap(({ file, text }) =>
    [...text.matchAll(defined)].map(([, name, other]) => `${file}: ${name ?? other}`),
  );
  expect(strays).toEqual([]);
});

it('every series of the table is used somewhere in the code', () => {
  const unused = Object.keys(ALL_SERIES).filter(
    (name) => !elsewhere.some(({ text }) => text.includes(`_SERIES.${name}`)),
  );
  expect(unused).toEqual([]);
});

it('every series is in one area alone, has a sentence, and a name in base units that fits its type', () => {
  const names = Object.values(SERIES_BY_AREA).flatMap((table) => Object.keys(table));
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
  for (const [name, { type, help }] of Object.entries(ALL_SERIES)) {
    expect({ name, help }).toEqual({ name, help: expect.stringMatching(/^\S.*[.]$/s) });
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    expect(name).not.toMatch(/_(?:ms|milliseconds|minutes|days|kb|mb|percent)(?:_|$)/);
  }
});

it('no label is an id, which would have a series for every call', () => {
  const ids = Object.entries(ALL_SERIES).flatMap(([name, { labels = [] }]) =>
    labels
      .filter((label) => /(?:call|session|user|agent|request|trace)(?:_id)?$/.test(label))
      .map((label) => `${name}{${label}}`),
  );
  expect(ids).toEqual([]);
});
