// What a caller hears of the gateway's own database when its disk is full, and when it is away.
import { DatabaseError } from 'pg';
import { expect, it } from 'vitest';
import { NotConnected } from './not-connected.ts';
import { withDatabase } from './database-failures.ts';

const FULL = "The disk of the gateway's database is full: it stores nothing now.";
const AWAY = 'The gateway cannot reach its database now.';

function answered(code: string): DatabaseError {
  return Object.assign(new DatabaseError('could not extend file', 0, 'error'), { code });
}

it.each([
  ['that its disk is full, where it says so', answered('53100'), FULL],
  [
    'that its disk is full, where it cannot be started for it',
    new NotConnected('No space left on device'),
    FULL,
  ],
  ['that it is away, where nothing says more', new NotConnected('ECONNREFUSED'), AWAY],
  ['no word of what it said', answered('42P01'), AWAY],
])('a caller hears %s', async (_what, error, message) => {
  const failing = withDatabase(() => Promise.reject(error));
  await expect(failing).rejects.toMatchObject({ reason: 'DATABASE_UNAVAILABLE', message });
});
