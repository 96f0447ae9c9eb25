// The migrations, in order. A name is for ever: what is released is never changed, only followed by another.
import type { Migration } from 'kysely/migration';
import { calls } from './0001-calls.ts';

export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-calls': calls,
};
