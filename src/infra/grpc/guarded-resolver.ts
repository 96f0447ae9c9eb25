// Names of gRPC upstreams, looked up by the gateway's own resolver and held to its egress policy at every connection:
// grpc-js is given addresses that were checked, and dials them as they are.
import { experimental, Metadata, status } from '@grpc/grpc-js';
import { randomUUID } from 'node:crypto';
import { toolFailure } from '../../contract/call/failure.ts';
import { egressFault } from '../../lib/egress/egress.ts';
import type { EgressPolicy } from '../../ports/egress/http-client.ts';
import { AddressGuard } from '../http/address-guard.ts';
import { checkedAddresses, type Outside } from '../http/guarded-connector.ts';
import { egressDenied } from '../http/http-failures.ts';

const SCHEME = 'ute';

export interface GuardedTarget {
  /** What grpc-js is told to connect to. */
  readonly uri: string;
  /** Why the last look came to nothing. */
  readonly failure: () => unknown;
  readonly release: () => void;
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly look: () => Promise<readonly string[]>;
  failure: unknown;
}

/** By the id in their URI: grpc-js makes resolvers itself, and gives them nothing else. */
const TARGETS = new Map<string, Target>();
let isRegistered = false;

/** `host` as in a URL. */
export function guardedTarget(
  host: string,
  port: number,
  policy: EgressPolicy,
  outside: Outside,
): GuardedTarget {
  if (!isRegistered) experimental.registerResolver(SCHEME, GuardedResolver);
  isRegistered = true;
  const guard = new AddressGuard(policy.allowPrivate, outside.ownAddresses?.bind(outside));
  const url = new URL(`https://${host}:${port}`);
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  const look = async () => {
    const fault = egressFault(policy, url);
    if (fault !== undefined) throw egressDenied(`${host}:${port} is not among the allowed ${fault}s`);
    return checkedAddresses(bare, guard, outside);
  };
  const id = randomUUID();
  const target: Target = { host, port, look, failure: undefined };
  TARGETS.set(id, target);
  return { uri: `${SCHEME}:${id}`, failure: () => target.failure, release: () => void TARGETS.delete(id) };
}

class GuardedResolver implements experimental.Resolver {
  readonly #target: Target | undefined;
  readonly #listener: experimental.ResolverListener;
  #isLooking = false;
  #isDestroyed = false;

  constructor({ path }: experimental.GrpcUri, listener: experimental.ResolverListener) {
    this.#target = TARGETS.get(path);
    this.#listener = listener;
  }

  static getDefaultAuthority({ path }: experimental.GrpcUri): string {
    const { host, port } = TARGETS.get(path) ?? { host: 'unknown', port: 443 };
    return `${host}:${port}`;
  }

  updateResolution(): void {
    this.#isDestroyed = false;
    if (this.#isLooking) return;
    this.#isLooking = true;
    void this.#look().finally(() => (this.#isLooking = false));
  }

  destroy(): void {
    this.#isDestroyed = true;
  }

  async #look(): Promise<void> {
    const target = this.#target;
    try {
      if (target === undefined) throw toolFailure('DRAINING', 'The channel is closed.');
      const addresses = await target.look();
      target.failure = undefined;
      if (this.#isDestroyed) return;
      const endpoints = addresses.map((host) => ({ addresses: [{ host, port: target.port }] }));
      this.#listener(experimental.statusOrFromValue(endpoints), {}, null, '');
    } catch (error) {
      if (target !== undefined) target.failure = error;
      if (this.#isDestroyed) return;
      const details = 'The name could not be resolved to an address that may be reached.';
      this.#listener(
        experimental.statusOrFromError({ code: status.UNAVAILABLE, details, metadata: new Metadata() }),
        {},
        null,
        '',
      );
    }
  }
}
