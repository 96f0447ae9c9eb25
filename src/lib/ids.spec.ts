// Ids: ordered, unique, and of the form that the RFC gives them.
import { describe, expect, it } from 'vitest';
import { uuidv7 } from './ids.ts';

describe('uuidv7', () => {
  it('a time with a fraction makes an ordinary id', () => {
    expect(uuidv7(Date.now() + 0.75)).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('is a UUID of version 7 that carries the time', () => {
    const now = Date.now() + 1_000_000;
    const id = uuidv7(now);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now);
  });

  it('ids are unique and in order, within a millisecond and when the clock steps back', () => {
    const start = Date.now() + 2_000_000;
    const ids = Array.from({ length: 20_000 }, (_, i) => uuidv7(start - (i % 7)));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
  });
});
