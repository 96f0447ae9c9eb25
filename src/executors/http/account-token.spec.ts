// The token of an account: the bearer of the request, to the provider's hosts and nowhere else.
import { describe, expect, it } from 'vitest';
import type { RequestOptions } from './options-schema.ts';
import { requireTokenHost, withAccountToken } from './account-token.ts';

const AUTH = {
  provider: 'google',
  scopes: [],
  hosts: ['api.example.com', '*.cal.example.com', 'in.example.com:8443'],
};
const BEARER = 'Bearer {sensitive_config.access_token}';
const base = (headers = {}, laterHeader?: string) => ({
  url: new URL('https://api.example.com'),
  headers,
  ...(laterHeader !== undefined && { laterHeader }),
});

describe('the token', () => {
  it('is the bearer of the request, beside its own headers', () => {
    const request: RequestOptions = { path: '/x', headers: { Accept: 'text/plain' } };
    expect(withAccountToken(request, undefined, AUTH).headers).toEqual({
      Accept: 'text/plain',
      Authorization: BEARER,
    });
  });

  it('stands where the tool puts it', () => {
    const request: RequestOptions = { path: '/x', headers: { 'X-Token': '{sensitive_config.access_token}' } };
    expect(withAccountToken(request, base(), AUTH)).toBe(request);
  });

  it('is none of a tool without an account', () => {
    const request: RequestOptions = { path: '/x' };
    expect(withAccountToken(request, base({ Authorization: 'Basic x' }), undefined)).toBe(request);
  });

  it.each([
    ['the tool', { path: '/x', headers: { authorization: 'x' } }, base()],
    ['the connection', { path: '/x' }, base({ Authorization: 'Basic x' })],
    ['a token of the connection', { path: '/x' }, base({}, 'authorization')],
  ] satisfies [string, RequestOptions, ReturnType<typeof base>][])(
    'does not take the place of what %s sends there',
    (_who, request, connection) => {
      expect(() => withAccountToken(request, connection, AUTH)).toThrow(/set that already/);
    },
  );
});

describe('goes', () => {
  it.each(['https://api.example.com', 'https://eu.cal.example.com', 'https://in.example.com:8443'])(
    'to %s',
    (url) => {
      expect(() => requireTokenHost(AUTH, new URL(url))).not.toThrow();
    },
  );

  it.each([
    'https://evil.example',
    'https://api.example.com.evil.example',
    'https://cal.example.com',
    'https://api.example.com:8443',
    'https://xcal.example.com',
    'http://api.example.com',
  ])('not to %s', (url) => {
    expect(() => requireTokenHost(AUTH, new URL(url))).toThrow(/"google"/);
  });
});
