// ConnectedTokens: a good token costs no look into the database, and what goes wrong is told for what it is.
import { describe, expect, it } from 'vitest';
import { principalOf } from '../../../test/helpers/call-kit.ts';
import {
  HOUR_MS,
  MemoryConnections,
  markingSealer,
  RotatingProvider,
} from '../../../test/helpers/oauth-kit.ts';
import { settled } from '../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../test/helpers/quiet-log.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { TokenWanted } from '../../ports/oauth/agent-tokens.ts';
import { ConnectedTokens } from './connected-tokens.ts';
import { TokenRefresh } from './token-refresh.ts';

const WANTED: TokenWanted = {
  tenantId: 'acme',
  agent: 'desk',
  auth: { provider: 'id', scopes: ['read'], hosts: [] },
  principal: principalOf({}),
};
const LINK = { tenantId: 'acme', agent: 'desk', provider: 'id', url: 'https://gw/x', expiresAt: new Date(0) };

function kit({ link = false } = {}) {
  const store = new MemoryConnections();
  const provider = new RotatingProvider();
  const shared = { known: store, sealer: markingSealer, clock: store.clock };
  const refresh = new TokenRefresh({
    ...shared,
    store,
    log: quietLog,
    outcomes: { with: () => ({ add: () => undefined }) },
    random: () => 0.5,
  });
  const providers = { find: (name: string) => (name === 'id' ? provider : undefined), names: ['id'] };
  const links = { forCall: async () => (link ? LINK : undefined) };
  const tokens = new ConnectedTokens({ ...shared, refresh, providers, links });
  return { store, provider, tokens, token: () => tokens.token(WANTED) };
}

const reasonOf = async (work: Promise<unknown> | void) =>
  Promise.resolve(work).then(
    () => 'fine',
    ({ reason }: { readonly reason: string }) => reason,
  );

describe('a token', () => {
  it('that is good is in memory: however many calls, the database is asked once', async () => {
    const { store, token, tokens } = kit();
    store.connect();
    for (let calls = 0; calls < 20; calls += 1) {
      await tokens.check(WANTED);
      expect(await token()).toBe('access-1');
    }
    expect(store.reads).toBe(1);
  });

  it('goes on in use while it is refreshed ahead of its end', async () => {
    const { store, provider, token } = kit();
    store.connect();
    await token();
    await store.clock.advance(0.81 * HOUR_MS);
    expect(await token()).toBe('access-1');
    await settled();
    expect([await token(), provider.refreshes]).toEqual(['access-2', 1]);
  });

  it('goes on in use until it ends while the provider, or the database, is away', async () => {
    const { store, provider, token } = kit();
    store.connect();
    await token();
    provider.failure = toolFailure('TOKEN_UNAVAILABLE', 'away');
    await store.clock.advance(0.9 * HOUR_MS);
    store.isAway = true;
    expect(await token()).toBe('access-1');
    store.isAway = false;
    await store.clock.advance(0.1 * HOUR_MS);
    expect(await reasonOf(token())).toBe('TOKEN_UNAVAILABLE');
    provider.failure = undefined;
    await store.clock.advance(10_001);
    expect(await token()).toMatch(/^access-/);
  });

  it('that ended is waited for, once for all', async () => {
    const { store, provider, token } = kit();
    store.connect();
    await token();
    await store.clock.advance(HOUR_MS);
    expect(new Set(await Promise.all([token(), token(), token()]))).toEqual(new Set(['access-2']));
    expect(provider.refreshes).toBe(1);
  });

  it('that an upstream does not take is replaced, once a minute at most', async () => {
    const { store, provider, tokens, token } = kit();
    store.connect();
    await token();
    for (let calls = 0; calls < 5; calls += 1) {
      tokens.refused(WANTED);
      await token();
    }
    expect(provider.refreshes).toBe(1);
    await store.clock.advance(60_001);
    tokens.refused(WANTED);
    await token();
    expect(provider.refreshes).toBe(2);
  });
});

describe('is told at once, before anything runs:', () => {
  it('no account is connected', async () => {
    const { tokens, token } = kit({ link: true });
    const told = await Promise.resolve(tokens.check(WANTED)).catch((error: unknown) => error);
    expect(told).toMatchObject({
      type: 'AUTH',
      reason: 'NOT_CONNECTED',
      retryable: false,
      partialSideEffects: false,
      details: { connect_url: 'https://gw/x', authorize: { path: '/v1/agents/desk/oauth/id/authorize' } },
    });
    expect(await reasonOf(token())).toBe('NOT_CONNECTED');
  });

  it.each([
    ['a scope of the tool was not granted', { scopes: ['other'] }],
    ['the provider of this name is another one now', { providerKey: 'k0' }],
    ['it has ended, and there is no refresh token', { sealed: { access_token: 'x' }, expiresInMs: 0 }],
  ])('%s', async (_what, changes) => {
    const { store, tokens, token, provider } = kit();
    store.connect(changes);
    expect([await reasonOf(tokens.check(WANTED)), await reasonOf(token())]).toEqual([
      'NEEDS_REAUTH',
      'NEEDS_REAUTH',
    ]);
    expect(provider.refreshes).toBe(0);
  });
});

it('where the database is away and nothing is known, the call fails where it needs the token, and may be repeated', async () => {
  const { store, tokens, token } = kit();
  store.connect();
  store.isAway = true;
  expect(await reasonOf(tokens.check(WANTED))).toBe('fine');
  expect(await token().catch((error: unknown) => error)).toMatchObject({
    reason: 'DATABASE_UNAVAILABLE',
    partialSideEffects: false,
  });
});

it('a token that was sealed for another agent opens for nobody', async () => {
  const { store, token } = kit();
  store.connect({ sealed: { access_token: 'acme/night/oauth/id/access_token|stolen' } });
  expect(await reasonOf(token())).toBe('SECRET_UNREADABLE');
});
