import { describe, expect, it } from 'vitest';
import { LargeJsonError } from './limits.ts';
import { parseInSlices, parseOwn } from './parse-json.ts';

const LARGE = Array.from({ length: 20_000 }, (_, at) => ({ [`k${at}`]: [1e21, at + 0.5, `s${at}`] }));

describe('parseOwn', () => {
  it('reads what JSON.parse reads, numbers as well', async () => {
    const json = JSON.stringify(LARGE);
    expect(await parseOwn(json)).toEqual(JSON.parse(json));
    expect(parseOwn('[1e999]')).toEqual([Number.POSITIVE_INFINITY]);
  });

  it('reads names of any length', async () => {
    const json = JSON.stringify({ ['n'.repeat(300_000)]: 1 });
    expect(await parseOwn(json)).toEqual(JSON.parse(json));
  });

  it('refuses what is no JSON', async () => {
    expect(() => parseOwn('[1')).toThrow(SyntaxError);
    await expect(parseOwn(`${JSON.stringify(LARGE)}]`)).rejects.toThrow(LargeJsonError);
  });
});

describe('parseInSlices', () => {
  it('refuses a name that could only be read in one go', async () => {
    const json = JSON.stringify({ ['n'.repeat(300_000)]: 1 });
    await expect(parseInSlices(json)).rejects.toMatchObject({ reason: 'TOO_LONG' });
  });
});
