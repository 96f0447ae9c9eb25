// LimitedAuthenticator: looks at no more than so many wrong credentials of one address in a time. Whoever has shown a good one from
// there before is let in meanwhile: somebody else behind the same address is no reason to refuse them.
import type { Grant } from '../../contract/call/admitted-call.ts';
import type { Credential, Principal } from '../../contract/call/principal.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counter, Metrics } from '../../ports/telemetry/metrics.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';
import { ClientAddresses } from './client-address.ts';
import { FailureWindows, type FailureLimit } from './failure-windows.ts';

interface LimitNeeds {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface AddressLimit extends FailureLimit {
  readonly trustedProxies: readonly string[];
}

const MOST_KNOWN = 10_000;
/** Of a key its secret part, of a token its signature. */
const TAIL = 64;

export class LimitedAuthenticator implements Authenticator {
  readonly #inner: Authenticator;
  readonly #addresses: ClientAddresses;
  readonly #windows: FailureWindows;
  readonly #log: Log;
  readonly #counts: Readonly<Record<'wrong' | 'limited', Counter>>;
  /** Address and credential that were good together. */
  readonly #known = new Set<string>();

  constructor(
    inner: Authenticator,
    { trustedProxies, ...limit }: AddressLimit,
    { clock, log, metrics }: LimitNeeds,
  ) {
    this.#inner = inner;
    this.#addresses = new ClientAddresses(trustedProxies);
    this.#windows = new FailureWindows(limit, clock);
    this.#log = log;
    const counter = metrics.counter(ACCESS_SERIES.ute_wrong_credentials_total);
    this.#counts = { wrong: counter.with('refused'), limited: counter.with('limited') };
  }

  authenticate(credential: Credential, tenant?: string): Principal | Promise<Principal> {
    if ((credential.kind !== 'bearer' && credential.kind !== 'several') || credential.from === undefined)
      return this.#inner.authenticate(credential, tenant);
    const address = this.#addresses.of(credential.from);
    const shown = credential.kind === 'bearer' ? `${address} ${credential.token.slice(-TAIL)}` : '';
    const waitMs = this.#windows.waitMs(address);
    if (waitMs > 0 && !this.#known.has(shown)) throw this.#limited(waitMs);
    try {
      const principal = this.#inner.authenticate(credential, tenant);
      if (!(principal instanceof Promise)) return this.#good(shown, principal);
      return principal.then(
        (known) => this.#good(shown, known),
        (error: unknown) => {
          throw this.#refused(address, error);
        },
      );
    } catch (error) {
      throw this.#refused(address, error);
    }
  }

  recall(grant: Grant): Principal {
    return this.#inner.recall(grant);
  }

  #good(shown: string, principal: Principal): Principal {
    if (!this.#known.has(shown)) {
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.add(shown);
    }
    return principal;
  }

  /** A credential that has expired, or names no tenant, was good: nobody has guessed it. */
  #refused(address: string, error: unknown): unknown {
    if (
      !(error instanceof ToolFailure) ||
      !(isReason(error, 'CREDENTIAL_INVALID') || isReason(error, 'CREDENTIALS_DIFFER'))
    )
      return error;
    this.#counts.wrong.add();
    if (this.#windows.failed(address))
      this.#log.warn(
        { address },
        'too many wrong credentials from one address: for a while no other one of it is looked at; a proxy that stands for many belongs into auth.trusted_proxies',
      );
    return error;
  }

  #limited(retryAfterMs: number): ToolFailure {
    this.#counts.limited.add();
    const message = 'Too many wrong credentials have come from this address: this one was not looked at.';
    return toolFailure('TOO_MANY_WRONG_CREDENTIALS', message, { retryAfterMs });
  }
}
