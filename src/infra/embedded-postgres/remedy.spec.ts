// What the operator is told to do, by what PostgreSQL has said.
import { expect, it } from 'vitest';
import { remedyOf } from './remedy.ts';

it.each([
  [
    'initdb: error: could not look up effective user ID 4242: user does not exist',
    ": give the gateway's user a line in /etc/passwd, or set database.url (UTE_DATABASE_URL) to a PostgreSQL of your own",
  ],
  [
    'could not write lock file "postmaster.pid": No space left on device',
    ': make room, or set data_dir (UTE_DATA_DIR) to another disk',
  ],
  [
    'insufficient file descriptors available to start server process',
    ': raise the limit of open files (ulimit -n, LimitNOFILE)',
  ],
  [
    'could not map anonymous shared memory: Cannot allocate memory',
    ': give the machine more memory, or set database.url (UTE_DATABASE_URL) to a PostgreSQL of your own',
  ],
  [
    'could not create shared memory segment: No space left on device',
    ': give the machine more memory, or set database.url (UTE_DATABASE_URL) to a PostgreSQL of your own',
  ],
  ['data directory "/data" has wrong ownership', ''],
  ['', ''],
])('the remedy of what was said is told, and none where none is known: %j', (said, remedy) => {
  expect(remedyOf(said)).toBe(remedy);
});
