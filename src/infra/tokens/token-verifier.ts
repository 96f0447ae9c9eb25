// TokenVerifier: whether a token is one of its issuer's, meant for this gateway and good now. Keys come from the issuer alone.
import { createLocalJWKSet, decodeProtectedHeader, errors, jwtVerify, type JWTVerifyOptions } from 'jose';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IssuerSettings } from '../../settings/auth-settings.ts';
import type { IssuerKeys, KeySet } from './issuer-keys.ts';
import { readClaims, type TokenClaims } from './token-claims.ts';

export interface VerifiedToken {
  readonly claims: TokenClaims;
  /** By `Clock.wall()`. */
  readonly goodUntil: number;
  /** What it was verified with. */
  readonly keySet: KeySet;
}

/** Headers by which a token would bring its own key, or say where to fetch it. */
const OWN_KEY = ['jwk', 'jku', 'x5u', 'x5c'];

export class TokenVerifier {
  readonly issuer: IssuerSettings;
  readonly keys: IssuerKeys;
  readonly #clock: Clock;
  readonly #options: JWTVerifyOptions;
  #resolve: { readonly keySet: KeySet; readonly key: ReturnType<typeof createLocalJWKSet> } | undefined;

  constructor(issuer: IssuerSettings, keys: IssuerKeys, clock: Clock) {
    this.issuer = issuer;
    this.keys = keys;
    this.#clock = clock;
    const { audience } = issuer;
    this.#options = {
      algorithms: [...issuer.algorithms],
      issuer: issuer.issuer,
      audience: typeof audience === 'string' ? audience : [...audience],
      typ: issuer.token_type,
      clockTolerance: issuer.clock_skew_s,
      maxTokenAge: issuer.max_age_s,
      requiredClaims: ['sub', 'exp', 'iat'],
    };
  }

  /** Rejects with ToolFailure: AUTH, PERMISSION_DENIED (TENANT_NOT_ALLOWED), UNAVAILABLE (ISSUER_UNAVAILABLE). */
  async verify(token: string): Promise<VerifiedToken> {
    const keySet = await this.#keysFor(this.#keyIdOf(token));
    const { payload } = await this.#verified(token, keySet);
    // Bound to a key that its bearer has to prove, which nobody asks for here: it is worth nothing by itself.
    if (payload['cnf'] !== undefined) throw invalid();
    const claims = readClaims(payload, this.issuer);
    if (claims === undefined) throw invalid();
    const { clock_skew_s: skew, max_age_s: maxAge } = this.issuer;
    const { exp = 0, iat = 0 } = payload;
    return { claims, goodUntil: (Math.min(exp, iat + maxAge) + skew) * 1_000, keySet };
  }

  #keyIdOf(token: string): string | undefined {
    let header;
    try {
      header = decodeProtectedHeader(token);
    } catch {
      throw invalid();
    }
    if (OWN_KEY.some((name) => Object.hasOwn(header, name))) throw invalid();
    if (!this.issuer.algorithms.some((each) => each === header.alg)) throw invalid();
    return header.kid;
  }

  /** Of a key id that nobody knows the issuer is asked, now and then. */
  async #keysFor(kid: string | undefined): Promise<KeySet> {
    const known = this.keys.current;
    if (known !== undefined && (kid === undefined || known.keys.some((key) => key.kid === kid))) return known;
    await this.keys.askAgain();
    const current = this.keys.current;
    if (current !== undefined) return current;
    throw toolFailure('ISSUER_UNAVAILABLE', "The keys of the token's issuer could not be read yet.", {
      retryAfterMs: 10_000,
    });
  }

  async #verified(token: string, keySet: KeySet) {
    if (this.#resolve?.keySet !== keySet)
      this.#resolve = { keySet, key: createLocalJWKSet({ keys: [...keySet.keys] }) };
    const currentDate = new Date(this.#clock.wall());
    try {
      return await jwtVerify(token, this.#resolve.key, { ...this.#options, currentDate });
    } catch (error) {
      throw error instanceof errors.JWTExpired
        ? toolFailure('CREDENTIAL_EXPIRED', 'The credential has expired.')
        : invalid();
    }
  }
}

/** Whatever is wrong with it: who tries learns nothing from that. */
export function invalid(): ToolFailure {
  return toolFailure('CREDENTIAL_INVALID', 'The credential is not valid.');
}
