// Of what initdb has said the operator is told the reason, not what it cleaned up behind it.
import { expect, it } from 'vitest';
import { initdbFailure } from './initdb-failure.ts';

const CLEANING =
  'child process exited with exit code 1\ninitdb: removing data directory "/data/postgres/unfinished/cluster"\n';

it.each([
  [
    `2026-11-27 06:13:33.918 UTC [7] FATAL:  insufficient file descriptors available to start server process\n${CLEANING}`,
    'the embedded database cannot be made (FATAL:  insufficient file descriptors available to start server process): raise the limit of open files (ulimit -n, LimitNOFILE)',
  ],
  [
    `initdb: error: could not write to file "x": No space left on device\n${CLEANING}`,
    'the embedded database cannot be made (initdb: error: could not write to file "x": No space left on device): make room, or set data_dir (UTE_DATA_DIR) to another disk',
  ],
  ['', 'the embedded database cannot be made (SIGKILL)'],
])('the reason is told, and what helps, of %j', (said, message) => {
  expect(initdbFailure(said, 'SIGKILL').message).toBe(message);
});
