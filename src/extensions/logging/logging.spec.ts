import { describe, expect, it } from 'vitest';
import {
  callOf,
  echoNext,
  outcomeOf,
  recordingLog,
  requestOf,
  through,
} from '../../../test/helpers/call-kit.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { logging } from './index.ts';

describe('logging', () => {
  it('one line per call, without arguments or results', async () => {
    const log = recordingLog();
    const call = callOf({
      request: requestOf({ arguments: { secret: 'hunter2' } }),
      arguments: { secret: 'hunter2' },
    });
    await through(logging.create({ log }), call, echoNext().next, { level: 'info' });
    expect(log.lines).toMatchObject([
      { level: 'info', fields: { callId: 'call-1', tool: 'greet', outcome: 'ok' } },
    ]);
    expect(JSON.stringify(log.lines)).not.toContain('hunter2');
  });

  it('a failure names type and reason, and carries the cause that the caller does not see', async () => {
    const log = recordingLog();
    const call = callOf();
    const cause = new Error('stack of the upstream');
    const failing = () =>
      outcomeOf(() => Promise.reject(new ToolFailure('TRANSIENT', 'Try again.', { cause })), call);
    await through(logging.create({ log }), call, failing, { level: 'info' });
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { outcome: 'TRANSIENT', err: cause } }]);
  });
});
