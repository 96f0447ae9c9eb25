import { describe, expect, it } from 'vitest';
import { requestId } from './request-id.ts';

describe('request ids', () => {
  it('are 128 bits and never come twice, across refills of the pool', () => {
    const ids = new Set(Array.from({ length: 10_000 }, requestId));
    expect(ids.size).toBe(10_000);
    expect(new Set(Array.from(ids, (id) => Buffer.from(id, 'base64url').length))).toEqual(new Set([16]));
  });
});
