// What /readyz says of each part of a gateway, and what follows for calls.
import { describe, expect, it } from 'vitest';
import { partsOf, type PartsNow } from './parts.ts';

const WELL: PartsNow = {
  stores: { embedded: false, redis: true, role: 'all' },
  degraded: {},
  sandbox: { backend: 'bwrap-full' },
  pythonUnconfined: false,
  phase: undefined,
};
const statesOf = (now: Partial<PartsNow>) =>
  Object.fromEntries(
    Object.entries(partsOf({ ...WELL, ...now }))
      .filter(([, { state }]) => state !== 'ok')
      .map(([name, { state }]) => [name, state]),
  );

describe('the parts of a gateway', () => {
  it('are all named, and none has an effect where all is well', () => {
    const parts = partsOf(WELL);
    expect(Object.keys(parts)).toEqual([
      'database',
      'redis',
      'queue',
      'sandbox',
      'loaders',
      'audit',
      'doors',
    ]);
    expect(
      Object.values(parts).filter(({ state, effect }) => state !== 'ok' || effect !== undefined),
    ).toEqual([]);
  });

  it.each([
    ['Redis that is away', { degraded: { admission: 'x' } }, { redis: 'away', queue: 'degraded' }],
    ['a database that is away', { degraded: { database: 'x' } }, { database: 'away', queue: 'away' }],
    ['a source of tools that is away', { degraded: { tools: 'x' } }, { loaders: 'degraded' }],
    ['a journal that takes no records', { degraded: { audit: 'x' } }, { audit: 'away' }],
    ['no sandbox', { sandbox: { backend: 'none' as const } }, { sandbox: 'away' }],
    ['the lesser sandbox', { sandbox: { backend: 'landlock' as const } }, { sandbox: 'degraded' }],
    ['a sandbox that was not found out yet', { sandbox: undefined }, { sandbox: 'degraded' }],
    ['the drain', { phase: 'draining' }, { doors: 'away' }],
  ])('%s shows at the parts that it concerns, and at no others', (_name, now, states) => {
    expect(statesOf(now)).toEqual(states);
  });

  it('each that is not well says what it means for calls', () => {
    const degraded = { admission: 'limits are per replica', database: 'no database', tools: 'one source' };
    const parts = partsOf({ ...WELL, degraded, sandbox: undefined, phase: 'draining' });
    for (const { state, effect } of Object.values(parts)) expect(effect === undefined).toBe(state === 'ok');
    expect(parts['redis']?.effect).toBe('limits are per replica');
  });

  it.each([
    ['none', 'degraded', 'refuse their calls (SANDBOX_UNAVAILABLE)'],
    ['landlock', 'degraded', 'run in the lesser sandbox (docs/sandbox.md)'],
    [undefined, 'degraded', 'wait for it'],
  ] as const)(
    'do not say of Python tools that run without a sandbox what is true of others alone (%s)',
    (backend, state, ofThese) => {
      const sandbox = backend === undefined ? undefined : { backend };
      const parts = partsOf({ ...WELL, sandbox, pythonUnconfined: true });
      const effect = `shell tools and Python tools of callers' code ${ofThese}; other Python tools run without a sandbox`;
      expect(parts['sandbox']).toEqual({ kind: backend ?? 'not known yet', state, effect });
    },
  );
});
