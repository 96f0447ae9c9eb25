// GrpcUpstreams on grpc-js: a channel for each upstream and policy, made by the first who calls and closed behind the last.
import { hash } from 'node:crypto';
import { toolFailure } from '../../contract/call/failure.ts';
import { SharedLeases } from '../../lib/concurrency/shared-leases.ts';

import type { GrpcUpstream, GrpcUpstreams, GrpcUpstreamSettings } from '../../ports/egress/grpc-upstreams.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { NameResolver } from '../dns/name-resolver.ts';
import { realOutside, type Outside } from '../http/guarded-connector.ts';
import { defineGrpcMetrics, type GrpcMetrics } from './grpc-metrics.ts';
import type { UpstreamChannel } from './upstream-channel.ts';

/** Made when the first call wants it: the library is loaded with it. */
class LateChannel {
  readonly #make: () => Promise<UpstreamChannel>;
  #made: Promise<UpstreamChannel> | undefined;
  #isClosed = false;

  constructor(make: () => Promise<UpstreamChannel>) {
    this.#make = make;
  }

  get(): Promise<UpstreamChannel> {
    if (this.#isClosed)
      return Promise.reject(
        toolFailure('DRAINING', 'The gateway is shutting down.', { partialSideEffects: false }),
      );
    this.#made ??= this.#make();
    return this.#made;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    (await this.#made)?.close();
  }
}

export class GrpcJsUpstreams implements GrpcUpstreams {
  readonly #metrics: GrpcMetrics;
  readonly #outside: Outside;
  readonly #open = new Set<LateChannel>();
  readonly #channels = new SharedLeases<LateChannel>(async (channel) => {
    this.#open.delete(channel);
    await channel.close();
  });

  constructor(metrics: Metrics, outside: Outside = realOutside(new NameResolver())) {
    this.#metrics = defineGrpcMetrics(metrics);
    this.#outside = outside;
  }

  open(settings: GrpcUpstreamSettings): GrpcUpstream {
    const { held, release } = this.#channels.lease(hash('sha256', JSON.stringify(settings)), () => {
      const made = new LateChannel(async () => {
        const { UpstreamChannel } = await import('./upstream-channel.ts');
        return new UpstreamChannel(settings, this.#outside, this.#metrics);
      });
      this.#open.add(made);
      return made;
    });
    return { call: async (call) => (await held.get()).call(call), close: release };
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open].map((channel) => channel.close()));
    this.#open.clear();
  }
}
