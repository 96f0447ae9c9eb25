// The keys of an issuer as they are read: from that issuer alone, public ones alone, and never from where nobody allowed it.
import { describe, expect, it } from 'vitest';
import { issuerSettings } from '../../../test/helpers/token-kit.ts';
import type { HttpClient, HttpRequest } from '../../ports/egress/http-client.ts';
import { fetchKeys } from './fetch-keys.ts';

const KEY = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'one' };
const KEYS = { keys: [KEY] };
const DISCOVERY = 'https://login.example.com/.well-known/openid-configuration';
const JWKS = 'https://login.example.com/jwks?v=1';

/** By URL: a status, or a body. */
function setUp(answers: Readonly<Record<string, unknown>>) {
  const requests: HttpRequest[] = [];
  const http: Pick<HttpClient, 'request'> = {
    async request(request) {
      requests.push(request);
      const answer = answers[request.origin + request.path] ?? 404;
      if (typeof answer === 'number') return { status: answer, headers: {}, body: Buffer.alloc(0) };
      const body = Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer));
      return { status: 200, headers: {}, body };
    },
  };
  const read = (changes: object = {}) =>
    fetchKeys(issuerSettings(changes), http as HttpClient, new AbortController().signal);
  return { read, requests };
}

const discovered = (document: object) => ({ [DISCOVERY]: document, [JWKS]: KEYS });
const OWN = { issuer: 'https://login.example.com', jwks_uri: JWKS };

describe('the keys of an issuer', () => {
  it('are where its discovery document says, by the guarded client and bounded', async () => {
    const { read, requests } = setUp(discovered(OWN));
    expect(await read()).toEqual([KEY]);
    expect(requests.map(({ origin, path }) => origin + path)).toEqual([DISCOVERY, JWKS]);
    for (const { egress, maxResponseBytes } of requests) {
      expect(egress).toMatchObject({ allowHosts: ['login.example.com:443'], allowPrivate: [] });
      expect(maxResponseBytes).toBe(256 * 1024);
    }
  });

  it('may be said to be elsewhere', async () => {
    const jwks = 'https://keys.example.net/k';
    const { read } = setUp({ [jwks]: KEYS, ...discovered({ ...OWN, jwks_uri: jwks }) });
    expect(await read({ jwks_url: jwks })).toEqual([KEY]);
    await expect(read()).rejects.toThrow(/names a host that may not be reached: list it in allow_hosts/);
    const hosts = ['login.example.com', 'keys.example.net'];
    expect(await read({ allow_hosts: hosts })).toEqual([KEY]);
  });

  it.each([
    ['of another issuer', { ...OWN, issuer: 'https://evil.example.com' }, /of another issuer/],
    ['of the issuer with a slash', { ...OWN, issuer: 'https://login.example.com/' }, /of another issuer/],
    ['that names no keys', { issuer: OWN.issuer }, /no https URL/],
    ['that names keys by http', { ...OWN, jwks_uri: 'http://login.example.com/jwks' }, /no https URL/],
    ['that names a file', { ...OWN, jwks_uri: 'file:///etc/passwd' }, /no https URL/],
    [
      'that names another port',
      { ...OWN, jwks_uri: 'https://login.example.com:8443/jwks' },
      /names a host|names a port/,
    ],
    ['that is a list', [], /of another issuer/],
  ])('are not taken by a document %s', async (_what, document, why) => {
    await expect(setUp(discovered(document)).read()).rejects.toThrow(why);
  });

  it.each([
    ['an error', 500, /HTTP 500/],
    ['a redirect', 302, /HTTP 302/],
    ['no JSON', '<html>', /no JSON/],
    ['null', 'null', /no object/],
    ['no list', { keys: 'many' }, /no object/],
    ['an empty list', { keys: [] }, /no public key/],
    ['too many', { keys: Array.from({ length: 101 }, () => KEY) }, /at most 100/],
    ['a secret', { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }, /no public key/],
    ['a private key', { keys: [{ ...KEY, d: 'd' }] }, /no public key/],
    ['a key for encryption', { keys: [{ ...KEY, use: 'enc' }] }, /no public key/],
    ['a text among keys', { keys: ['one', null] }, /no public key/],
  ])('are not taken from %s', async (_what, answer, why) => {
    const { read } = setUp({ [DISCOVERY]: OWN, [JWKS]: answer });
    await expect(read()).rejects.toThrow(why);
  });

  it('that can be used are taken from among those that cannot', async () => {
    const { read } = setUp({ [DISCOVERY]: OWN, [JWKS]: { keys: [{ ...KEY, d: 'd' }, null, KEY] } });
    expect(await read()).toEqual([KEY]);
  });
});
