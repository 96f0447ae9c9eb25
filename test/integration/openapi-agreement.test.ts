// A second encoder, written from OpenAPI's own table, agrees on every request that GitHub's document leads to.
import { afterAll, expect, it } from 'vitest';
import { GITHUB } from '../corpus/packages.ts';
import { agreementOn } from '../helpers/openapi-agreement.ts';
import { OpenApiBench } from '../helpers/openapi-kit.ts';

const bench = new OpenApiBench();
afterAll(() => bench.close());

it('on every operation of GitHub’s document', async () => {
  const loaded = await bench.loader({ document: GITHUB }).load(new AbortController().signal);
  const { compared, differing } = await agreementOn(GITHUB, loaded);
  expect(differing.slice(0, 3)).toEqual([]);
  expect(compared).toBeGreaterThan(1_100);
});
