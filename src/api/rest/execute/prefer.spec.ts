import { describe, expect, it } from 'vitest';
import { readPrefer } from './prefer.ts';

describe('readPrefer', () => {
  it.each([
    [undefined, { respondAsync: false }],
    ['respond-async', { respondAsync: true }],
    ['Respond-Async, wait=5', { respondAsync: true, waitMs: 5_000 }],
    ['wait="10"; foo="bar"', { respondAsync: false, waitMs: 10_000 }],
    [['respond-async', 'wait=1'], { respondAsync: true, waitMs: 1_000 }],
    ['wait=-1', { respondAsync: false }],
    ['wait=99999', { respondAsync: false }],
    ['return=minimal', { respondAsync: false }],
    ['respond-async,'.repeat(1_000), { respondAsync: false }],
  ])('%j', (header, expected) => {
    expect(readPrefer(header)).toEqual(expected);
  });
});
