// The search for tools on the 1,200 operations of GitHub: of requests in plain words, the right tool is among the first five nine times in ten. One
// file of requests was written before there was a ranking, and nothing was tuned on it.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { functionsOf } from '../../src/contract/tool/tool-function.ts';
import { atOnce } from '../../src/lib/concurrency/in-slices.ts';
import { ToolIndex } from '../../src/registry/search/tool-index.ts';
import { OpenApiBench } from '../helpers/openapi-kit.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const GITHUB = resolve(ROOT, 'node_modules/@octokit/openapi/generated/api.github.com.json');
const FIRST = 5;

interface Asked {
  readonly request: string;
  readonly tool: string;
}

const asked = (file: string) =>
  JSON.parse(readFileSync(resolve(ROOT, 'test/fixtures/tool-search', file), 'utf8')) as readonly Asked[];

const bench = new OpenApiBench();
let index: ToolIndex;
let count = 0;

beforeAll(async () => {
  const loaded = await bench.loader({ document: GITHUB }).load(new AbortController().signal);
  const functions = bench.checked(loaded).tools.flatMap(({ spec }) => functionsOf(spec));
  count = functions.length;
  index = atOnce(ToolIndex.of(functions));
});

afterAll(() => bench.close());

function missed(requests: readonly Asked[]): readonly string[] {
  return requests.flatMap(({ request, tool }) => {
    const names = atOnce(index.search(request, FIRST, () => true)).map(({ name }) => name);
    return names.includes(tool) ? [] : [`${request} → ${tool}; found ${names.join(', ')}`];
  });
}

it('there are as many tools as the figures are about', () => expect(count).toBeGreaterThan(1_000));

describe.each(['github-kept-apart.json', 'github-tuned-on.json'])('%s', (file) => {
  it('has the right tool among the first five for nine requests of ten', () => {
    const requests = asked(file);
    expect(requests.length).toBeGreaterThanOrEqual(50);
    const misses = missed(requests);
    const share = 1 - misses.length / requests.length;
    expect({ share, misses }).toSatisfy((found: { share: number }) => found.share >= 0.9);
  });
});
