// What a tool says of its credential: which providers there are, which tools may have their tokens, and where it is wrong.
import { describe, expect, it } from 'vitest';
import { authOf, faultsOfProvider, managedAuthOf, type DeclaredAuth } from './auth-fields.ts';

const PROVIDERS = new Map([
  ['google', { hosts: ['www.googleapis.com'], handlers: false }],
  ['local', { hosts: ['127.0.0.1:80'], handlers: true }],
]);
const oauth2 = (changes: object = {}): DeclaredAuth => ({
  auth: { type: 'oauth2', provider: 'google', scopes: ['a', 'a', 'b'], ...changes },
});
const faults = (declared: DeclaredAuth, executor = 'http') => faultsOfProvider(declared, executor, PROVIDERS);

describe('a provider of gateway.yaml', () => {
  it('is bound to its hosts, whatever addresses the tool has', () => {
    const auth = authOf(oauth2({ auth_url: 'https://evil.example/a', token_url: 'https://evil.example/t' }));
    expect(managedAuthOf(auth, PROVIDERS)).toEqual({
      provider: 'google',
      scopes: ['a', 'b'],
      hosts: ['www.googleapis.com'],
    });
  });

  it('is found in the older spelling as well', () => {
    const declared: DeclaredAuth = {
      requires_auth: true,
      auth_type: 'oauth2',
      auth_config: { provider: 'google', scopes: ['a'], auth_url: 'https://accounts.google.com' },
    };
    expect(managedAuthOf(authOf(declared), PROVIDERS)).toMatchObject({ provider: 'google' });
    expect(faults(declared)).toEqual([]);
  });

  it.each(['javascript', 'python', 'shell', 'composite', 'mcp', 'sql', 'mine'])(
    'gives no token to %s, which no list of hosts can hold, unless it says so',
    (executor) => {
      expect(faults(oauth2(), executor)).toMatchObject([{ path: ['auth', 'provider'] }]);
      expect(faults(oauth2({ provider: 'local' }), executor)).toEqual([]);
    },
  );

  it('has scopes of one word each', () => {
    expect(faults(oauth2({ scopes: ['a', 'b c', 'd"'] }))).toMatchObject([
      { path: ['auth', 'scopes', 1] },
      { path: ['auth', 'scopes', 2] },
    ]);
  });
});

describe('a provider from elsewhere', () => {
  it('needs its addresses, and is told which there are', () => {
    expect(faults(oauth2({ provider: 'gogle' }))).toMatchObject([
      { path: ['auth', 'provider'], message: expect.stringContaining('did you mean "google"?') },
    ]);
    expect(faults(oauth2({ provider: 'other', auth_url: 'https://a.example' }))).toHaveLength(1);
  });

  it('with them, is one whose tokens are set by hand', () => {
    const declared = oauth2({
      provider: 'other',
      auth_url: 'https://a.example',
      token_url: 'https://t.example',
    });
    expect(faults(declared, 'javascript')).toEqual([]);
    expect(managedAuthOf(authOf(declared), PROVIDERS)).toBeUndefined();
  });
});
