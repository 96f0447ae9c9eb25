// The points at which a test lets the process die are none of a gateway's.
import { expect, it } from 'vitest';
import { MemoryCallStore } from '../../../test/helpers/memory-call-store.ts';
import { dyingStore } from './dying-store.ts';

it.each([
  {},
  { UTE_FAILPOINT: 'while_queued' },
  { NODE_ENV: 'production', UTE_FAILPOINT: 'while_queued' },
  { NODE_ENV: 'test' },
])('the store is itself with the environment %o', (env) => {
  const store = new MemoryCallStore();
  expect(dyingStore(store, env)).toBe(store);
});
