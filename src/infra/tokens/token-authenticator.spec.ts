// Tokens: what is let in is its issuer's, for this gateway and good now, whatever else it says of itself.
import { createHmac, createPublicKey } from 'node:crypto';
import type { JWK } from 'jose';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { recordingLog } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import {
  AUDIENCE,
  forged,
  ISSUER,
  issuerSettings,
  signed,
  signingKey,
  type SigningKey,
  type Wanted,
} from '../../../test/helpers/token-kit.ts';
import type { Grant } from '../../contract/call/admitted-call.ts';
import { holds } from '../../contract/call/principal.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Roles } from '../keys/known-key.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { TokenAuthenticator } from './token-authenticator.ts';
import { TokenVerifier } from './token-verifier.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const AT = NOW / 1_000;

let key: SigningKey;
let rsa: SigningKey;
let enemy: SigningKey;

beforeAll(async () => {
  [key, rsa, enemy] = await Promise.all([
    signingKey('one'),
    signingKey('rsa', 'RS256'),
    signingKey('one', 'ES256'),
  ]);
});

async function setUp(changes: object = {}, roles: Roles = {}) {
  const clock = new FakeClock(NOW);
  const server = { keys: [key.jwk, rsa.jwk] as readonly JWK[], isAway: false, asked: 0 };
  const read = async () => {
    server.asked += 1;
    if (server.isAway) throw new Error('connect ECONNREFUSED');
    return server.keys;
  };
  const log = recordingLog();
  const issuer = issuerSettings(changes);
  const keys = new IssuerKeys({
    issuer: issuer.issuer,
    refreshMs: 300_000,
    read,
    clock,
    log,
    tell: () => undefined,
  });
  const declared = { roles };
  const authenticator = new TokenAuthenticator(
    [new TokenVerifier(issuer, keys, clock)],
    () => declared.roles,
    clock,
  );
  keys.start();
  onTestFinished(() => keys.stop());
  await keys.askAgain();
  const who = async (token: string, tenant?: string) => authenticator.authenticate(token, tenant);
  const told = async (token: string, tenant?: string) => {
    try {
      return `let in for ${(await who(token, tenant)).tenantId}`;
    } catch (error) {
      if (error instanceof ToolFailure) return error.reason;
      throw error;
    }
  };
  return { authenticator, clock, declared, keys, log, server, told, who };
}

const token = (wanted?: Wanted, by = key) => signed(by, NOW, wanted);

describe('a token of the issuer', () => {
  it.each(['ES256', 'RS256', 'EdDSA'])('signed with %s is let in', async (alg) => {
    const own = await signingKey('own', alg);
    const { server, told, clock, keys } = await setUp();
    server.keys = [own.jwk];
    clock.jumpTo(NOW + 30_000);
    await keys.askAgain();
    expect(await told(await signed(own, NOW))).toBe('let in for acme');
  });

  it('says who calls, and holds what the settings give its roles', async () => {
    const { who } = await setUp({ claims: { roles: ['realm', 'roles'] }, default_roles: ['agent'] });
    const claims = { realm: { roles: ['admins', 'platform_admin', 'admin', 'agents', 'constructor'] } };
    const principal = await who(await token({ claims }));
    expect(principal).toMatchObject({
      id: `${ISSUER}#ann`,
      tenantId: 'acme',
      userId: 'ann',
      agents: ['*'],
      roles: ['agent', 'admin'],
    });
    expect(holds(principal, 'keys:manage')).toBe(true);
    expect(holds(principal, 'platform:admin')).toBe(false);
    expect((await who(await token())).roles).toEqual(['agent']);
  });

  it('is known the second time at once, without the issuer and without a signature being checked', async () => {
    const { authenticator, server } = await setUp();
    const text = await token();
    const first = authenticator.authenticate(text, undefined);
    expect(first).toBeInstanceOf(Promise);
    await first;
    server.isAway = true;
    expect(authenticator.authenticate(text, undefined)).toMatchObject({ tenantId: 'acme' });
  });

  it('is good until it ends, and so long as its clock may be wrong', async () => {
    const { clock, told } = await setUp({ clock_skew_s: 5 });
    const text = await token({ claims: { exp: AT + 60 } });
    expect(await told(text)).toBe('let in for acme');
    clock.jumpTo(NOW + 64_999);
    expect(await told(text)).toBe('let in for acme');
    clock.jumpTo(NOW + 65_000);
    expect(await told(text)).toBe('CREDENTIAL_EXPIRED');
  });

  it('is good for max_age_s at most, whatever it says itself', async () => {
    const { clock, told } = await setUp({ clock_skew_s: 0, max_age_s: 60 });
    const text = await token({ claims: { exp: AT + 86_400 } });
    expect(await told(text)).toBe('let in for acme');
    clock.jumpTo(NOW + 60_000);
    expect(await told(text)).toBe('CREDENTIAL_EXPIRED');
    expect(await told(await signed(key, NOW - 120_000, { claims: { exp: AT + 86_400 } }))).toBe(
      'CREDENTIAL_EXPIRED',
    );
  });

  it('loses and gains what its roles lose and gain, without a new one', async () => {
    const { declared, who } = await setUp({ roles: { agents: ['clerk'] } }, { clerk: ['notes:read'] });
    const text = await token({ claims: { roles: ['agents'] } });
    expect([...(await who(text)).permissions]).toEqual(['notes:read']);
    declared.roles = { clerk: ['notes:write'] };
    expect([...(await who(text)).permissions]).toEqual(['notes:write']);
  });
});

describe('an attack', () => {
  const hs256 = () => {
    const secret = createPublicKey({ key: rsa.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const unsigned = forged({ alg: 'HS256', kid: 'rsa', typ: 'at+jwt' }, good()).replace(/\.$/, '');
    return `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`;
  };
  const good = () => ({ iss: ISSUER, aud: AUDIENCE, sub: 'ann', iat: AT, exp: AT + 300 });
  const attacks: readonly (readonly [string, () => Promise<string> | string])[] = [
    ['alg none', () => forged({ alg: 'none', typ: 'at+jwt' }, good())],
    ['alg None in other letters', () => forged({ alg: 'nOnE', kid: 'one', typ: 'at+jwt' }, good(), 'x')],
    ['no signature', async () => (await token()).replace(/\.[^.]*$/, '.')],
    ['HS256 with the public key as its secret', hs256],
    ['an algorithm that is not pinned', async () => token({}, await signingKey('one', 'ES384'))],
    ['another audience', () => token({ claims: { aud: 'https://other.example.com' } })],
    ['no audience', () => token({ without: ['aud'] })],
    ['another issuer', () => token({ claims: { iss: 'https://evil.example.com' } })],
    ['the issuer with a slash behind it', () => token({ claims: { iss: `${ISSUER}/` } })],
    ['no issuer', () => token({ without: ['iss'] })],
    ['no exp', () => token({ without: ['exp'] })],
    ['no iat', () => token({ without: ['iat'] })],
    ['no sub', () => token({ without: ['sub'] })],
    ['a sub that is no text', () => token({ claims: { sub: { toString: 'ann' } } as never })],
    ['a sub with control characters', () => token({ claims: { sub: 'ann\u0000' } })],
    ['a time before which it is not good', () => token({ claims: { nbf: AT + 60 } })],
    ['an iat to come', () => token({ claims: { iat: AT + 600, exp: AT + 900 } })],
    ['exp as a text', () => token({ claims: { exp: String(AT + 60) } as never })],
    ['the type of an ID token', () => token({ header: { typ: 'JWT' } })],
    ['no type', () => token({ header: { typ: undefined } })],
    ['an embedded key, its own', () => token({ header: { jwk: enemy.jwk } }, enemy)],
    ['an embedded key, the right one', () => token({ header: { jwk: key.jwk } })],
    ['jku', () => token({ header: { jku: 'https://evil.example.com/jwks' } })],
    ['x5u', () => token({ header: { x5u: 'https://evil.example.com/cert' } })],
    ['x5c', () => token({ header: { x5c: ['MIIB'] } })],
    ['the key id of the issuer, and another key', () => token({}, enemy)],
    ['a foreign key id', async () => token({}, await signingKey('unheard-of'))],
    ['an unknown crit', () => token({ header: { crit: ['urn:example:unknown'], 'urn:example:unknown': 1 } })],
    ['a proof of possession that nobody asks for', () => token({ claims: { cnf: { jkt: 'x' } } })],
    ['a huge token', () => token({ claims: { filler: 'x'.repeat(10_000) } })],
    [
      'a changed claim',
      async () => (await token()).replace(/\.[^.]*\./, `.${part({ ...good(), sub: 'bob' })}.`),
    ],
    ['parts that are no JSON', () => 'YQ.YQ.YQ'],
    ['a payload that is a list', () => `${part({ alg: 'ES256', kid: 'one', typ: 'at+jwt' })}.${part([])}.x`],
    ['a payload that is null', () => `${part({ alg: 'ES256', kid: 'one', typ: 'at+jwt' })}.bnVsbA.x`],
  ];
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

  it.each(attacks)('with %s is refused, in the same words as any other', async (_what, make) => {
    const { authenticator } = await setUp();
    const refused = async () => authenticator.authenticate(await make(), undefined);
    await expect(refused()).rejects.toMatchObject({
      type: 'AUTH',
      reason: 'CREDENTIAL_INVALID',
      message: 'The credential is not valid.',
      details: {},
    });
  });

  it('is no reason to ask the issuer more often than every half minute', async () => {
    const { server, told, clock } = await setUp();
    const before = server.asked;
    for (let at = 0; at < 50; at += 1)
      expect(await told(await token({}, { ...key, kid: `unheard-of-${at}` }))).toBe('CREDENTIAL_INVALID');
    expect(server.asked).toBe(before);
    clock.jumpTo(NOW + 30_000);
    await Promise.all([
      told(await token({}, { ...key, kid: 'a' })),
      told(await token({}, { ...key, kid: 'b' })),
    ]);
    expect(server.asked).toBe(before + 1);
  });
});

describe('the tenants of a token', () => {
  it.each([
    [{ tenants: ['acme'] }, {}, undefined, 'let in for acme'],
    [{ tenants: ['acme'] }, {}, 'umbrella', 'TENANT_MISMATCH'],
    [{ tenants: ['acme', 'umbrella'] }, {}, undefined, 'TENANT_REQUIRED'],
    [{ tenants: ['acme', 'umbrella'] }, {}, 'umbrella', 'let in for umbrella'],
    [{ tenants: ['acme', 'umbrella'] }, {}, 'wayne', 'TENANT_NOT_ALLOWED'],
    [{ tenants: '*', claims: { tenant: 'org' } }, { org: 'wayne' }, undefined, 'let in for wayne'],
    [{ tenants: '*', claims: { tenant: 'org' } }, { org: '*' }, 'wayne', 'TENANT_NOT_ALLOWED'],
    [{ tenants: '*', claims: { tenant: 'org' } }, { org: ['*'] }, 'wayne', 'TENANT_NOT_ALLOWED'],
    [{ tenants: '*', claims: { tenant: 'org' } }, { org: ['a', '*'] }, 'wayne', 'TENANT_MISMATCH'],
    [{ tenants: '*', claims: { tenant: 'org' } }, {}, 'wayne', 'TENANT_NOT_ALLOWED'],
    [{ tenants: '*', claims: { tenant: 'org' } }, { org: 7 }, undefined, 'TENANT_NOT_ALLOWED'],
    [{ tenants: ['acme'], claims: { tenant: 'org' } }, { org: 'wayne' }, undefined, 'TENANT_NOT_ALLOWED'],
    [
      { tenants: ['acme'], claims: { tenant: 'org' } },
      { org: ['wayne', 'acme'] },
      undefined,
      'let in for acme',
    ],
    [{ tenants: '*', claims: { tenant: 'constructor' } }, {}, 'acme', 'TENANT_NOT_ALLOWED'],
    [{ tenants: '*', claims: { tenant: ['a', 'b'] } }, { a: { b: 'acme' } }, undefined, 'let in for acme'],
  ])(
    'by the settings %j and the claims %j, for the named %j: %s',
    async (changes, claims, named, expected) => {
      const { told } = await setUp(changes);
      const text = await token({ claims });
      expect(await told(text, named)).toBe(expected);
      // The second time from memory.
      expect(await told(text, named)).toBe(expected);
    },
  );

  it.each([
    [{ claims: { agents: 'agents' } }, { agents: ['a', '*', 'b'] }, ['a', 'b']],
    [{ claims: { agents: 'agents' } }, {}, []],
    [{ claims: { agents: 'agents' } }, { agents: '*' }, []],
    [{}, {}, ['*']],
  ])('agents by %j and %j are %j: a star in a claim is nobody', async (changes, claims, agents) => {
    const { who } = await setUp(changes);
    expect((await who(await token({ claims }))).agents).toEqual(agents);
  });

  it('a backend that speaks for many users is bound to none; a user that is claimed has to be there', async () => {
    expect((await (await setUp({ claims: { user: false } })).who(await token())).userId).toBeUndefined();
    const { told, who } = await setUp({ claims: { user: 'email' } });
    expect((await who(await token({ claims: { email: 'ann@example.com' } }))).userId).toBe('ann@example.com');
    expect(await told(await token())).toBe('CREDENTIAL_INVALID');
  });
});

describe('the keys of the issuer', () => {
  it('that come are taken when a token needs one, and those that go are refused, verified before or not', async () => {
    const next = await signingKey('two');
    const { server, told, clock, keys } = await setUp();
    const [old, young] = [await token(), await token({}, next)];
    expect(await told(old)).toBe('let in for acme');
    server.keys = [next.jwk];
    expect(await told(young)).toBe('CREDENTIAL_INVALID');
    clock.jumpTo(NOW + 30_000);
    expect(await told(young)).toBe('let in for acme');
    expect(keys.isAway).toBe(false);
    expect(await told(old)).toBe('CREDENTIAL_INVALID');
  });

  it('stay in force while it is away, and a rotation waits until it is back', async () => {
    const next = await signingKey('two');
    const { server, told, clock, keys, log } = await setUp();
    server.isAway = true;
    server.keys = [next.jwk];
    clock.jumpTo(NOW + 40_000);
    const young = await signed(next, NOW + 40_000);
    expect(await told(young)).toBe('CREDENTIAL_INVALID');
    expect(keys.isAway).toBe(true);
    expect(await told(await token())).toBe('let in for acme');
    expect(JSON.stringify(log.lines).match(/cannot be read/g)).toHaveLength(1);
    server.isAway = false;
    clock.jumpTo(NOW + 70_000);
    expect(await told(young)).toBe('let in for acme');
    expect(keys.isAway).toBe(false);
  });

  it('are read again ahead of need, by themselves', async () => {
    const { server, clock, keys } = await setUp();
    const before = server.asked;
    await clock.advance(700_000);
    await expect.poll(() => server.asked).toBeGreaterThan(before + 1);
    expect(keys.current?.keys).toHaveLength(2);
  });

  it('of an issuer that never answers are given up after five seconds, and hold up no end', async () => {
    const clock = new FakeClock(NOW);
    const log = recordingLog();
    const away: boolean[] = [];
    let given: AbortSignal | undefined;
    const read = (signal: AbortSignal) => {
      given = signal;
      return new Promise<never>((_done, failed) =>
        signal.addEventListener('abort', () => failed(signal.reason as Error), { once: true }),
      );
    };
    const needs = { issuer: ISSUER, refreshMs: 300_000, read, clock, log };
    const keys = new IssuerKeys({ ...needs, tell: (isAway) => void away.push(isAway) });
    keys.start();
    const verifier = new TokenVerifier(issuerSettings(), keys, clock);
    const authenticator = new TokenAuthenticator([verifier], () => ({}), clock);
    const text = await token();
    const told = (async () => authenticator.authenticate(text, undefined))().catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await told).toMatchObject({ reason: 'ISSUER_UNAVAILABLE' });
    expect([away, given?.aborted]).toEqual([[true], true]);
    await clock.advance(20_000);
    keys.stop();
    expect(given?.aborted).toBe(true);
    await keys.askAgain();
    expect(away).toEqual([true]);
  });

  it('that were never read refuse with a reason to try again', async () => {
    const clock = new FakeClock(NOW);
    const keys = new IssuerKeys({
      issuer: ISSUER,
      refreshMs: 300_000,
      read: () => Promise.reject(new Error('connect ECONNREFUSED')),
      clock,
      log: recordingLog(),
      tell: () => undefined,
    });
    const verifier = new TokenVerifier(issuerSettings(), keys, clock);
    const authenticator = new TokenAuthenticator([verifier], () => ({}), clock);
    await expect(authenticator.authenticate(await token(), undefined)).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'ISSUER_UNAVAILABLE',
      retryable: true,
    });
  });
});

describe('a call that was made with a token', () => {
  const grant = (changes: Partial<Grant> = {}): Grant => ({
    principalId: `${ISSUER}#ann`,
    tenantId: 'acme',
    permissions: [],
    token: { groups: ['agents'], agents: ['a'], userId: 'ann' },
    ...changes,
  });

  it('runs with what its roles mean now, long after the token has ended', async () => {
    const { authenticator, clock } = await setUp();
    clock.jumpTo(NOW + 86_400_000);
    expect(authenticator.recall(grant())).toMatchObject({
      id: `${ISSUER}#ann`,
      tenantId: 'acme',
      agents: ['a'],
      userId: 'ann',
      roles: ['agent'],
    });
    const without = await setUp({ roles: {} });
    expect(without.authenticator.recall(grant()).permissions.size).toBe(0);
  });

  it.each([
    ['an issuer that is trusted no more', { principalId: 'https://gone.example.com#ann' }],
    ['a tenant that its issuer does not speak for any more', { tenantId: 'umbrella' }],
    ['nothing that the token said', { token: undefined }],
  ])('of %s is refused', async (_what, changes) => {
    const { authenticator } = await setUp();
    const { token: said, ...rest } = { ...grant(), ...changes };
    expect(() => authenticator.recall({ ...rest, ...(said !== undefined && { token: said }) })).toThrow(
      expect.objectContaining({ reason: 'CREDENTIAL_REVOKED' }),
    );
  });
});
