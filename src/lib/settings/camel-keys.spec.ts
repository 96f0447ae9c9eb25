import { expect, it } from 'vitest';
import { camelKeys } from './camel-keys.ts';

it('settings have the names of TypeScript, and their values are the same', () => {
  const limits = { of_one: 1 };
  const settings = camelKeys({ max_queue: 5, path: '/bin', module_paths: ['a'], limits });
  expect(settings).toEqual({ maxQueue: 5, path: '/bin', modulePaths: ['a'], limits: { of_one: 1 } });
  expect(settings.limits).toBe(limits);
});
