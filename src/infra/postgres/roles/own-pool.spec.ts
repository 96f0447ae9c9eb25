// A pool tells of lost connections while it is in use, and not of those that end because it is being closed.
import { expect, it } from 'vitest';
import { recordingLog } from '../../../../test/helpers/call-kit.ts';
import { OwnPool } from './own-pool.ts';

it('warns of a connection that is lost in use, and not of one that ends behind its close', async () => {
  const log = recordingLog();
  // It connects to nothing before the first statement.
  const own = new OwnPool({ host: '127.0.0.1', port: 1 }, log);
  const ended = new Error('terminating connection due to administrator command');
  own.pool.emit('error', ended);
  expect(log.lines).toMatchObject([{ level: 'warn', fields: { reason: ended.message } }]);

  await own.close();
  own.pool.emit('error', ended);
  expect(log.lines).toHaveLength(1);
});
