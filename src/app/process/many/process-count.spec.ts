// How many processes serve: as said, or by the cores where they can share what they have to.
import { expect, it } from 'vitest';
import { settingsSchema } from '../../../settings/settings-schema.ts';
import { processCountOf } from './process-count.ts';

const of = (file: object) => processCountOf(settingsSchema.parse(file), 4);
const redis = { url: 'redis://localhost' };
const database = { url: 'postgres://localhost/ute' };

it('is one where nothing is said, and the number that is said', () => {
  expect(of({})).toEqual({ count: 1 });
  expect(of({ processes: 3, redis, database })).toEqual({ count: 3 });
});

it('auto is one for each core', () => {
  expect(of({ processes: 'auto', redis, database })).toEqual({ count: 4 });
});

it('auto is one, with the reason, where limits or the database could not be shared', () => {
  expect(of({ processes: 'auto', redis })).toMatchObject({
    count: 1,
    why: expect.stringContaining('database.url'),
  });
  expect(of({ processes: 'auto', database })).toMatchObject({
    count: 1,
    why: expect.stringContaining('redis.url'),
  });
  const one = processCountOf(settingsSchema.parse({ processes: 'auto', redis, database }), 1);
  expect(one).toMatchObject({ count: 1, why: expect.stringContaining('one core') });
});
