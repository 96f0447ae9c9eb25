// KeyCheck: keys that open nothing of what they are said to have encrypted are told, and what nobody could look at is not.
import { describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../test/helpers/quiet-log.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { SealedSecret } from '../../ports/agents/agent-store.ts';
import { KeyCheck } from './key-check.ts';

type Answer = 'opened' | 'SECRET_UNREADABLE' | 'SECRETS_KEY_MISSING' | 'SECRETS_PROVIDER_AWAY';

/** Of each key: how its samples are answered. */
function kit(first: Record<string, readonly Answer[]>) {
  let answers = first;
  let isAway = false;
  const told: number[] = [];
  const lines: string[] = [];
  const clock = new FakeClock();
  const log = {
    ...quietLog,
    error: (_fields: object, text: string) => void lines.push(text),
    info: (_fields: object, text: string) => void lines.push(text),
  };
  const secret = { tenantId: 'acme', agent: 'desk', tool: 'pay' };
  const check = new KeyCheck({
    clock,
    log,
    degraded: { set: (value: number) => void told.push(value), add: () => undefined },
    sealer: {
      open: (sealed) =>
        sealed === 'opened'
          ? Promise.resolve('text')
          : Promise.reject(toolFailure(sealed as Exclude<Answer, 'opened'>, 'no')),
    },
    store: {
      secretsByKey: () =>
        isAway
          ? Promise.reject(new Error('away'))
          : Promise.resolve(Object.keys(answers).map((keyId) => ({ keyId, secrets: 7 }))),
      wrappedBy: (keyId, limit) =>
        Promise.resolve(
          (answers[keyId] ?? [])
            .slice(0, limit)
            .map((sealed, index): SealedSecret => ({ ...secret, field: `f${index}`, sealed })),
        ),
    },
  });
  const change = (next: Record<string, readonly Answer[]>) => (answers = next);
  return { check, clock, told, lines, change, goAway: () => (isAway = true) };
}

describe('KeyCheck', () => {
  it.each([
    ['opens them', ['opened', 'opened'], []],
    ['opens one: the others were changed in the database', ['SECRET_UNREADABLE', 'opened'], []],
    ['opens none', ['SECRET_UNREADABLE', 'SECRET_UNREADABLE'], ['k1 (7)']],
    ['is not here', ['SECRETS_KEY_MISSING'], ['k1 (7)']],
    ['cannot be asked', ['SECRETS_PROVIDER_AWAY'], []],
    ['cannot be asked for all', ['SECRET_UNREADABLE', 'SECRETS_PROVIDER_AWAY'], []],
    ['has none by now', [], []],
  ] as const)('a key that %s', async (_what, samples, unopened) => {
    const { check } = kit({ k1: samples });
    await check.check();
    expect(check.unopened).toEqual(unopened);
  });

  it('names each key that opens nothing, in one line, once', async () => {
    const { check, lines, told } = kit({
      k1: ['SECRET_UNREADABLE'],
      k2: ['opened'],
      k3: ['SECRETS_KEY_MISSING'],
    });
    await check.check();
    await check.check();
    expect(lines).toEqual([expect.stringContaining('k1 (7), k3 (7)')]);
    expect(told).toEqual([1, 1]);
  });

  it('looks when it starts, then every hour, and every minute while something is wrong', async () => {
    const { check, clock, told, lines, change } = kit({ k1: ['SECRET_UNREADABLE'] });
    check.start();
    await settled();
    expect(told).toEqual([1]);
    await clock.advance(66_000);
    change({ k1: ['opened'] });
    await clock.advance(66_000);
    expect([told.at(-1), check.unopened]).toEqual([0, []]);
    expect(lines.at(-1)).toContain('again');
    const looks = told.length;
    await clock.advance(3_200_000);
    expect(told.length).toBe(looks);
    await clock.advance(800_000);
    expect(told.length).toBe(looks + 1);
    check.stop();
    await clock.advance(8_000_000);
    expect(told.length).toBe(looks + 1);
  });

  it('keeps what it knew while the database is away', async () => {
    const { check, goAway } = kit({ k1: ['SECRET_UNREADABLE'] });
    await check.check();
    goAway();
    expect(await check.check()).toBe(60_000);
    expect(check.unopened).toEqual(['k1 (7)']);
  });
});
