// What a bug report shows of the settings: whatever could be a secret is left out, wherever it stands.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { shownSettings } from './shown-settings.ts';

it('shows numbers, switches and words, and nothing of keys, headers and URLs but what they are', () => {
  const { value, secrets } = shownSettings({
    http: { port: 8080 },
    database: { url: 'postgres://ute:pass%20word@db.internal:5432/ute?sslkey=abcdef1' },
    redis: { url: undefined },
    auth: { mode: 'keys', keys: [{ id: 'ops', secret_sha256: 'a'.repeat(64), tenant: 'acme' }] },
    connections: { shop: { headers: { authorization: 'Bearer tok-123456' }, base_url: 'not a ://url' } },
    webhooks: { signing_secret: 'hook-secret' },
  });
  expect(value).toEqual({
    http: { port: 8080 },
    database: { url: 'postgres://[hidden]:5432' },
    redis: {},
    auth: { mode: 'keys', keys: [{ id: 'ops', secret_sha256: '[hidden]', tenant: 'acme' }] },
    connections: { shop: { headers: '[hidden]', base_url: '[hidden]' } },
    webhooks: { signing_secret: '[hidden]' },
  });
  expect(secrets).toEqual(
    expect.arrayContaining([
      'pass word',
      'ute',
      'abcdef1',
      'a'.repeat(64),
      'Bearer tok-123456',
      'hook-secret',
    ]),
  );
});

it('of what stands under a secret name, no text is shown at any depth', () => {
  const name = fc.constantFrom('api_key', 'clientSecret', 'password', 'headers', 'token', 'env');
  const canary = 'canary-51f2';
  const { tie } = fc.letrec((again) => ({
    tie: fc.oneof({ depthSize: 'small' }, fc.constant(canary), fc.dictionary(fc.string(), again('tie'))),
  }));
  fc.assert(
    fc.property(name, tie, (under, value) => {
      expect(JSON.stringify(shownSettings({ outer: { [under]: value } }).value)).not.toContain(canary);
    }),
  );
});

it('shows no text of what programs, logins and queries of loaders and connections are given, whatever it is called', () => {
  const canary = 'canary-51f2';
  const places: readonly unknown[] = [
    { secrets: { vault: { approle: { role_id: canary, secret_id: canary } } } },
    { audit: { checkpoint_s3: { access_key_id: canary } } },
    { loaders: [{ args: ['--api-key', canary], command: ['node', `--token=${canary}`] }] },
    { loaders: [{ auth: { type: 'basic', username: canary, value: canary } }] },
    { loaders: [{ env: [{ name: 'A', value: canary }], headers: [{ name: 'b', value: canary }] }] },
    { credentials: [[canary]] },
    {
      shop: {
        query: { q: canary },
        cookies: { c: canary },
        tokens: [canary],
        key1: canary,
        passphrase: canary,
      },
    },
    {
      shop: { dsn: canary, note: `Server=x;Password=${canary}`, login: `//u:${canary}@host/x`, jwt: canary },
    },
    { shop: { allow_hosts: [`${canary}.example.com`] } },
  ];
  for (const place of places) {
    const { value, secrets } = shownSettings(place);
    expect(JSON.stringify(value)).not.toContain(canary);
    expect(secrets.join(' ')).toContain(canary);
  }
});

it('names of hosts, and what stands in the path of a URL, are looked for in the rest of the report', () => {
  const { secrets } = shownSettings({
    database: { url: 'postgres://db.internal/ute' },
    audit: { checkpoint_webhook: { url: 'https://hooks.example.com/services/T0123456789abc' } },
    secrets: { keys: 'k1:first-key-of-all,k2:second-key-of-all' },
    loaders: [{ url: 'http://127.0.0.1:8080/tools' }],
  });
  expect(secrets).toEqual(
    expect.arrayContaining(['db.internal', 'hooks.example.com', 'T0123456789abc', 'second-key-of-all']),
  );
  expect(secrets).not.toContain('127.0.0.1');
});
