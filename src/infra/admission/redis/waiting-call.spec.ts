// Specs of what ends a wait when no slot does.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import type { LeaseRule } from '../../../ports/admission-control.ts';
import { endInTime, type WaitingCall } from './waiting-call.ts';

const rule = (key: string, maxWaitMs: number): LeaseRule => ({ key, limit: 1, maxQueue: 1, maxWaitMs });

function waiting() {
  const [clock, leaving, ended] = [new FakeClock(), new AbortController(), [] as string[]];
  const call: WaitingCall = {
    request: { callId: 'c', fairnessKey: 'acme', rates: [], leases: [] },
    fairnessKey: 'acme',
    leases: [],
    blockedOn: 'tool',
    asking: false,
    done: false,
    rates: [],
    settle: () => undefined,
    fail: () => undefined,
    disarm: () => undefined,
  };
  endInTime(call, [rule('tool', 500), rule('tenant', 100)], leaving.signal, clock, {
    aborted: () => ended.push('aborted'),
    late: ({ key }) => ended.push(`late for ${key}`),
  });
  return { call, clock, leaving, ended };
}

describe('the end of a wait', () => {
  it('is told by the lease that lets it wait the shortest', async () => {
    const { clock, ended } = waiting();
    await clock.advance(99);
    expect(ended).toEqual([]);
    await clock.advance(1);
    expect(ended).toEqual(['late for tenant']);
  });

  it('is told when the caller leaves', () => {
    const { leaving, ended } = waiting();
    leaving.abort();
    expect(ended).toEqual(['aborted']);
  });

  it('is not told any more once it is disarmed', async () => {
    const { call, clock, leaving, ended } = waiting();
    call.disarm();
    leaving.abort();
    await clock.advance(1_000);
    expect(ended).toEqual([]);
  });
});
