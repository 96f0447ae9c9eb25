// Tokens as an issuer signs them, and as an enemy does: keys made here, claims as a test wants them.
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { issuer, type IssuerSettings } from '../../src/settings/auth-settings.ts';

export const ISSUER = 'https://login.example.com';
export const AUDIENCE = 'https://tools.example.com';

export interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  /** As the issuer publishes it. */
  readonly jwk: JWK;
}

export async function signingKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export interface Wanted {
  readonly claims?: JWTPayload;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Claims that are not there. */
  readonly without?: readonly string[];
}

/** Good for five minutes from `now` on, unless the claims say otherwise. */
export function signed(
  key: SigningKey,
  now: number,
  { claims, header, without = [] }: Wanted = {},
): Promise<string> {
  const at = Math.floor(now / 1_000);
  const whole = { iss: ISSUER, aud: AUDIENCE, sub: 'ann', iat: at, exp: at + 300, ...claims };
  const payload = Object.fromEntries(Object.entries(whole).filter(([name]) => !without.includes(name)));
  return new SignJWT(payload)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
    .sign(key.privateKey, { crit: { 'urn:example:unknown': true } });
}

/** A token made by hand: nothing here holds to any rule. */
export function forged(header: object, payload: object, signature = ''): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part(header)}.${part(payload)}.${signature}`;
}

export function issuerSettings(changes: object = {}): IssuerSettings {
  return issuer.parse({
    issuer: ISSUER,
    audience: AUDIENCE,
    tenants: ['acme'],
    roles: { agents: ['agent'], admins: ['admin'] },
    claims: { roles: 'roles' },
    ...changes,
  });
}
