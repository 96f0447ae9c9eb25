// Tokens of issuers through a running gateway, at both doors: of a real OpenID provider, and of enemies.
import { createHmac, createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import {
  startKeyServer,
  startOidcProvider,
  type LocalIssuer,
  type OidcIssuer,
} from '../helpers/oidc-issuer.ts';
import { metricValue, request, sendTo } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { makeSchedule } from '../helpers/schedule-client.ts';
import { AUDIENCE, forged, signed, signingKey, type SigningKey, type Wanted } from '../helpers/token-kit.ts';

let provider: OidcIssuer;
let keyServer: LocalIssuer;
let broken: LocalIssuer;
let gateway: RunningGateway;
let doors: readonly Door[];
let key: SigningKey;
let enemy: SigningKey;
let rsa: SigningKey;

beforeAll(async () => {
  [key, enemy, rsa] = await Promise.all([signingKey('one'), signingKey('one'), signingKey('rsa', 'RS256')]);
  provider = await startOidcProvider(AUDIENCE, { org: 'acme', groups: ['callers', 'unheard-of'] });
  keyServer = await startKeyServer((_request, answer) =>
    answer.end(JSON.stringify({ keys: [key.jwk, rsa.jwk] })),
  );
  // As if it held a key of the issuer behind a megabyte of nothing.
  broken = await startKeyServer((_request, answer) => answer.end(' '.repeat(1 << 20)));
  const local = { audience: AUDIENCE, allow_http: true, allow_private: ['127.0.0.0/8'] };
  const reached = (url: string) => ({ ...local, allow_hosts: [new URL(url).host] });
  gateway = await startGateway({
    tools: ['test/fixtures/async/tools.yaml'],
    auth: {
      issuers: [
        {
          ...reached(provider.url),
          issuer: provider.url,
          tenants: ['acme', 'umbrella'],
          claims: { tenant: 'org', roles: 'groups', user: false },
          roles: { callers: ['agent'] },
        },
        {
          ...reached(keyServer.url),
          issuer: keyServer.url,
          jwks_url: `${keyServer.url}/jwks`,
          tenants: ['acme', 'umbrella'],
          claims: { roles: 'roles' },
          roles: { boss: ['admin'] },
          default_roles: ['agent'],
        },
        {
          ...reached(broken.url),
          issuer: broken.url,
          jwks_url: `${broken.url}/jwks`,
          tenants: ['acme'],
        },
      ],
    },
  });
  doors = [restDoor(gateway), grpcDoor(gateway)];
});

afterAll(async () => {
  for (const door of doors ?? []) door.close();
  await gateway?.stop();
  await Promise.all([provider?.close(), keyServer?.close(), broken?.close()]);
});

const SOON = { timeout: 50_000, interval: 50 };

/** Of both doors, which have to agree. */
async function told(token: string, tenant?: string): Promise<string> {
  const beside: Record<string, string> = tenant === undefined ? {} : { 'x-ute-tenant': tenant };
  const answers = await Promise.all(
    doors.map(async (door) => {
      const { ok, reason } = await door.call({ tool: 'work', argumentsJson: '{}', key: token, beside });
      return ok ? 'done' : `${reason}`;
    }),
  );
  expect(new Set(answers).size).toBe(1);
  return answers[0] ?? '';
}

const own = (wanted: Wanted = {}, by = key) =>
  signed(by, Date.now(), { ...wanted, claims: { iss: keyServer.url, ...wanted.claims } });

describe('a token of an OpenID provider', () => {
  it('calls tools at both doors, for the tenant that it names, with the roles that are mapped', async () => {
    const token = await provider.token();
    await expect.poll(() => told(token), SOON).toBe('done');
    expect(await told(token, 'acme')).toBe('done');
    expect(await told(token, 'umbrella')).toBe('TENANT_MISMATCH');
    const target = { url: gateway.url, key: token };
    expect((await request(target, 'GET', '/v1/tools')).status).toBe(200);
    expect((await request(target, 'GET', '/v1/keys')).status).toBe(403);
    const { body } = await request<{ records: { principal_id: string }[] }>(
      { url: gateway.url, key: gateway.keys.admin.text },
      'GET',
      '/v1/audit',
    );
    expect(body.records.map(({ principal_id: id }) => id)).toContain(`${provider.url}#backend`);
  });

  it('makes calls that run later, and finds them again with another token of its own', async () => {
    const target = { url: gateway.url, key: await provider.token() };
    const id = await acceptedId(target, 'work');
    const again = { url: gateway.url, key: await provider.token() };
    expect(await callWhen(again, id)).toMatchObject({ status: 'succeeded' });
    const schedule = await makeSchedule(again, { schedule: 'daily 9am', tool: 'work' });
    expect((await request(target, 'GET', `/v1/schedules/${schedule.body.id}`)).status).toBe(200);
    const other = { url: gateway.url, key: await own(), tenant: 'acme' };
    expect((await request(other, 'GET', `/v1/calls/${id}`)).status).toBe(404);
  });
});

describe('a token that names no tenant', () => {
  it('serves those of its issuer, each by its name', async () => {
    const token = await own();
    await expect.poll(() => told(token, 'umbrella'), SOON).toBe('done');
    expect(await told(token)).toBe('TENANT_REQUIRED');
    expect(await told(token, 'wayne')).toBe('TENANT_NOT_ALLOWED');
    const listed = await sendTo<{ reason: string }>({ url: gateway.url, key: token }, 'GET', '/v1/tools');
    expect([listed.status, listed.body.reason]).toEqual([400, 'TENANT_REQUIRED']);
  });

  it('makes keys with the role that its claim is mapped to', async () => {
    const target = { url: gateway.url, key: await own({ claims: { roles: ['boss'] } }), tenant: 'umbrella' };
    const wish = { name: 'made by a token', roles: ['agent'] };
    const made = await request<{ tenant: string; created_by: string }>(target, 'POST', '/v1/keys', wish);
    expect(made).toMatchObject({
      status: 201,
      body: { tenant: 'umbrella', created_by: `${keyServer.url}#ann` },
    });
  });
});

type Attack = [what: string, make: () => Promise<string> | string, expected?: string];

describe('an attack on both doors', () => {
  const now = () => Math.floor(Date.now() / 1_000);
  const good = () => ({ iss: keyServer.url, aud: AUDIENCE, sub: 'ann', iat: now(), exp: now() + 300 });
  const hs256 = () => {
    const unsigned = forged({ alg: 'HS256', kid: 'rsa', typ: 'at+jwt' }, good()).replace(/\.$/, '');
    const pem = createPublicKey({ key: rsa.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    return `${unsigned}.${createHmac('sha256', pem).update(unsigned).digest('base64url')}`;
  };
  const attacks: Attack[] = [
    ['alg none', () => forged({ alg: 'none', typ: 'at+jwt' }, good())],
    ['HS256 with the public key', hs256],
    ['a wrong audience', () => own({ claims: { aud: 'https://other.example.com' } })],
    ['a wrong issuer', () => own({ claims: { iss: 'https://login.example.com' } })],
    ['a token of one issuer by the keys of another', () => own({ claims: { iss: provider.url } })],
    ['an expired one', () => own({ claims: { iat: now() - 600, exp: now() - 60 } }), 'CREDENTIAL_EXPIRED'],
    ['no exp', () => own({ without: ['exp'] })],
    ['not before', () => own({ claims: { nbf: now() + 120 } })],
    ['the type of an ID token', () => own({ header: { typ: 'JWT' } })],
    ['an embedded key', () => own({ header: { jwk: enemy.jwk } }, enemy)],
    ['jku', () => own({ header: { jku: `${keyServer.url}/jwks` } })],
    ['x5u', () => own({ header: { x5u: `${keyServer.url}/cert` } })],
    ['a foreign key under a known id', () => own({}, enemy)],
    ['a foreign key id', () => own({}, { ...enemy, kid: 'unheard-of' })],
    ['an unknown crit', () => own({ header: { crit: ['urn:example:unknown'], 'urn:example:unknown': 1 } })],
    ['a huge token', () => own({ claims: { filler: 'x'.repeat(7_000) } })],
    ['two tokens in one', async () => `${await own()}.${await own()}`],
    ['a key of the gateway inside', () => `${gateway.keys.admin.text}.${gateway.keys.admin.text}.x`],
  ];

  it.each(attacks)('with %s is refused', async (_what, make, expected = 'CREDENTIAL_INVALID') => {
    const token = await make();
    expect(await told(token, 'acme')).toMatch(new RegExp(`^(${expected}|METADATA_TOO_LARGE)$`));
    const looked = await sendTo<{ reason: string }>(
      { url: gateway.url, key: token, tenant: 'acme' },
      'GET',
      '/v1/tools',
    );
    expect([looked.status, looked.body.reason]).toEqual([401, expected]);
  });
});

describe('an issuer whose keys cannot be read', () => {
  it('holds up no start, is told of, and refuses its own tokens alone', async () => {
    const token = await own({ claims: { iss: broken.url } });
    await expect.poll(() => told(token), SOON).toBe('ISSUER_UNAVAILABLE');
    const ready = await fetch(`${gateway.url}/readyz`);
    const { degraded } = (await ready.json()) as { degraded: Record<string, string> };
    expect([ready.status, degraded['tokens']]).toEqual([
      200,
      'issuers of tokens whose keys cannot be read: 1; those that were known stay in force',
    ]);
    expect(JSON.stringify(degraded)).not.toContain(broken.url);
    const metrics = await (await fetch(gateway.service.metricsUrl)).text();
    expect(metrics).toContain(`ute_issuer_keys_unread{issuer="${broken.url}"} 1`);
    expect(metrics).toContain(`ute_issuer_keys_unread{issuer="${keyServer.url}"} 0`);
    expect(metrics).toContain('ute_degraded{component="tokens"} 1');
    expect(await metricValue(gateway.service.metricsUrl, 'ute_api_keys')).toBeGreaterThanOrEqual(0);
  });
});
