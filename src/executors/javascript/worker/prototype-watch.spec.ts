// What a call leaves on shared prototypes is noticed: added, removed, replaced.
import { afterEach, describe, expect, it } from 'vitest';
import { PrototypeWatch } from './prototype-watch.ts';

const objects = Object.prototype as unknown as Record<string, unknown>;
const toString = objects['toString'];

afterEach(() => {
  delete objects['planted'];
  objects['toString'] = toString;
});

describe('PrototypeWatch', () => {
  it('sees nothing where nothing is', () => {
    expect(new PrototypeWatch().spoiled).toBe(false);
  });

  it('sees what was added, and keeps it in mind', () => {
    const watch = new PrototypeWatch();
    objects['planted'] = 1;
    expect(watch.spoiled).toBe(true);
    delete objects['planted'];
    expect(watch.spoiled).toBe(true);
  });

  it('sees what was replaced', () => {
    const watch = new PrototypeWatch();
    objects['toString'] = () => 'mine';
    expect(watch.spoiled).toBe(true);
  });

  it('takes what a module adds when it is imported', () => {
    const watch = new PrototypeWatch();
    objects['planted'] = 1;
    watch.accept();
    expect(watch.spoiled).toBe(false);
  });
});
