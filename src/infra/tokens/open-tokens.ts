// The issuers of gateway.yaml, each with its keys, and the authenticator of their tokens. Loaded where there are any.
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { IssuerSettings } from '../../settings/auth-settings.ts';
import type { Roles } from '../keys/known-key.ts';
import { degradedGauge } from '../telemetry/degraded-gauge.ts';
import { fetchKeys } from './fetch-keys.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { TokenAuthenticator } from './token-authenticator.ts';
import { TokenVerifier } from './token-verifier.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';

export interface TokensNeeds {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** As gateway.yaml declares them now. */
  readonly roles: () => Roles;
}

export interface Tokens {
  readonly authenticator: TokenAuthenticator;
  /** How many issuers there are whose keys cannot be read now. */
  readonly awayCount: () => number;
  start(): void;
  stop(): void;
}

export function openTokens(issuers: readonly IssuerSettings[], needs: TokensNeeds): Tokens {
  const { http, clock, log, metrics, roles } = needs;
  const unread = metrics.gauge(ACCESS_SERIES.ute_issuer_keys_unread);
  const degraded = degradedGauge(metrics, 'tokens');
  const awayCount = () => all.filter(({ isAway }) => isAway).length;
  const keysOf = (issuer: IssuerSettings) =>
    new IssuerKeys({
      issuer: issuer.issuer,
      refreshMs: issuer.refresh_s * 1_000,
      read: (signal) => fetchKeys(issuer, http, signal),
      clock,
      log,
      tell(isAway) {
        unread.with(issuer.issuer).set(isAway ? 1 : 0);
        degraded.set(awayCount() > 0 ? 1 : 0);
      },
    });
  const verifiers = issuers.map((issuer) => new TokenVerifier(issuer, keysOf(issuer), clock));
  const all = verifiers.map(({ keys }) => keys);
  for (const { issuer } of issuers) unread.with(issuer).set(0);
  return {
    authenticator: new TokenAuthenticator(verifiers, roles, clock),
    awayCount,
    start() {
      for (const keys of all) keys.start();
    },
    stop() {
      for (const keys of all) keys.stop();
    },
  };
}
