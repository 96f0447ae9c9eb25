// Wrong credentials of one address: so many are looked at, and nobody who was let in from there is refused for them.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { NO_CREDENTIAL, type Credential, type Principal } from '../../contract/call/principal.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { FailureWindows } from './failure-windows.ts';
import { LimitedAuthenticator } from './limited-authenticator.ts';

const PRINCIPAL: Principal = { id: 'k', tenantId: 'acme', agents: ['*'], roles: [], permissions: new Set() };

function bench(most = 3) {
  const clock = new FakeClock();
  const log = recordingLog();
  const metrics = recordingMetrics();
  let looked = 0;
  const inner = {
    authenticate(credential: Credential) {
      looked += 1;
      const token = credential.kind === 'bearer' ? credential.token : '';
      if (token === 'late')
        return Promise.reject<Principal>(toolFailure('CREDENTIAL_INVALID', 'The credential is not valid.'));
      if (token === 'good') return PRINCIPAL;
      if (token === 'token') return Promise.resolve(PRINCIPAL);
      if (token === 'old') throw toolFailure('CREDENTIAL_EXPIRED', 'The credential has expired.');
      throw toolFailure(credential.kind === 'none' ? 'CREDENTIAL_MISSING' : 'CREDENTIAL_INVALID', 'no');
    },
    recall: () => PRINCIPAL,
  };
  const limit = { most, withinMs: 60_000, trustedProxies: ['10.0.0.0/8'] };
  const authenticator = new LimitedAuthenticator(inner, limit, { clock, log, metrics });
  const show = async (token: string, peer = '203.0.113.1', forwardedFor?: string) => {
    const from = { peer, ...(forwardedFor !== undefined && { forwardedFor }) };
    return reasonOf(async () => authenticator.authenticate({ kind: 'bearer', token, from }));
  };
  return { authenticator, clock, log, metrics, show, looked: () => looked };
}

async function reasonOf(attempt: () => Promise<unknown>): Promise<string> {
  try {
    await attempt();
    return 'in';
  } catch (error) {
    if (error instanceof ToolFailure) return error.reason;
    throw error;
  }
}

const WRONG = 'CREDENTIAL_INVALID';
const LIMITED = 'TOO_MANY_WRONG_CREDENTIALS';

describe('wrong credentials of one address', () => {
  it('are looked at up to the limit, and again when the time is over; the refusal says when', async () => {
    const { clock, show, looked, log, metrics, authenticator } = bench();
    for (const each of ['a', 'b', 'late']) expect(await show(each)).toBe(WRONG);
    await clock.advance(20_000);
    expect([await show('c'), await show('good')]).toEqual([LIMITED, LIMITED]);
    expect(looked()).toBe(3);
    const from = { peer: '203.0.113.1' };
    await expect(
      (async () => authenticator.authenticate({ kind: 'bearer', token: 'd', from }))(),
    ).rejects.toMatchObject({ type: 'RATE_LIMIT', retryAfterMs: 40_000 });
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    await clock.advance(40_000);
    expect([await show('good'), await show('a')]).toEqual(['in', WRONG]);
    expect(metrics.values.get('ute_wrong_credentials_total{refused}')).toBe(4);
    expect(metrics.values.get('ute_wrong_credentials_total{limited}')).toBe(3);
  });

  it('keep nobody out who was let in from there before, by key or by token', async () => {
    const { show } = bench();
    expect([await show('good'), await show('token')]).toEqual(['in', 'in']);
    for (const each of ['a', 'b', 'c', 'd']) await show(each);
    expect([await show('good'), await show('token'), await show('e')]).toEqual(['in', 'in', LIMITED]);
    // From elsewhere it is another one's.
    for (const each of ['a', 'b', 'c']) await show(each, '203.0.113.2');
    expect(await show('good', '203.0.113.2')).toBe(LIMITED);
  });

  it('concern no other address, also behind a trusted proxy', async () => {
    const { show } = bench(1);
    expect(await show('a', '10.0.0.1', '203.0.113.1')).toBe(WRONG);
    expect(await show('good', '10.0.0.1', '203.0.113.1')).toBe(LIMITED);
    expect(await show('good', '10.0.0.1', '203.0.113.2')).toBe('in');
    expect(await show('a', '203.0.113.3', '198.51.100.1')).toBe(WRONG);
    expect(await show('a', '203.0.113.3', '198.51.100.2')).toBe(LIMITED);
  });

  it('are those that nobody has made: a good one that has expired and a missing one count for nothing', async () => {
    const { authenticator, show } = bench(1);
    for (let times = 0; times < 5; times += 1) {
      expect(await show('old')).toBe('CREDENTIAL_EXPIRED');
      expect(await reasonOf(async () => authenticator.authenticate(NO_CREDENTIAL))).toBe(
        'CREDENTIAL_MISSING',
      );
    }
    expect(await show('good')).toBe('in');
  });
});

it('no more than so many addresses are kept, and none is let through the limit while it is kept', () => {
  const clock = new FakeClock();
  const windows = new FailureWindows({ most: 2, withinMs: 1_000 }, clock);
  for (let at = 0; at < 25_000; at += 1) windows.failed(`a${at}`);
  expect(windows.size).toBe(10_000);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(5), fc.nat(400)), { maxLength: 60 }), (steps) => {
      const own = new FakeClock();
      const few = new FailureWindows({ most: 3, withinMs: 1_000 }, own);
      const looked = new Map<number, number[]>();
      for (const [who, later] of steps) {
        own.jumpTo(own.now() + later);
        if (few.waitMs(String(who)) > 0) continue;
        few.failed(String(who));
        looked.set(who, [...(looked.get(who) ?? []), own.now()]);
      }
      // Of two windows that touch, no more than both hold.
      for (const moments of looked.values())
        for (const moment of moments)
          expect(
            moments.filter((each) => each >= moment && each < moment + 1_000).length,
          ).toBeLessThanOrEqual(6);
    }),
  );
});
