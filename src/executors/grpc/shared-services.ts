// Services of a connection: descriptors read once and a channel held once, for all functions that name it.
import type { FileRegistry } from '@bufbuild/protobuf';
import { SharedLeases, type Lease } from '../../lib/concurrency/shared-leases.ts';
import { openDescriptors } from '../../lib/grpc/descriptor-set.ts';
import type { GrpcConnection } from '../../lib/grpc/grpc-connection.ts';
import { readDescribed } from '../../lib/grpc/read-described.ts';
import { upstreamSettings } from '../../lib/grpc/upstream-settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { GrpcUpstream, GrpcUpstreams } from '../../ports/egress/grpc-upstreams.ts';

export interface Services {
  readonly upstream: GrpcUpstream;
  readonly registry: Promise<FileRegistry>;
}

/** What more would take too long to make sense of, while calls wait. */
const MOST_FIELDS = 100_000;

export class SharedServices {
  readonly #needs: { readonly grpcUpstreams: GrpcUpstreams; readonly clock: Clock };
  readonly #shared = new SharedLeases<Services>(({ upstream }) => upstream.close());

  constructor(needs: { readonly grpcUpstreams: GrpcUpstreams; readonly clock: Clock }) {
    this.#needs = needs;
  }

  /** `fingerprint`: of the files that describe it. */
  lease(connection: GrpcConnection, baseDir: string, fingerprint: string): Lease<Services> {
    const key = JSON.stringify([connection, baseDir, fingerprint]);
    return this.#shared.lease(key, () => {
      const registry = this.#read(connection, baseDir);
      // Each function that waits for it says so itself.
      registry.catch(() => undefined);
      return { upstream: this.#needs.grpcUpstreams.open(upstreamSettings(connection)), registry };
    });
  }

  async #read(connection: GrpcConnection, baseDir: string): Promise<FileRegistry> {
    const never = new AbortController().signal;
    const described = await readDescribed(connection, baseDir, this.#needs.clock, never);
    if (described === undefined)
      throw new Error('Its connection names nothing that describes the services: protos or descriptor_set.');
    const fields = described.files.reduce((sum, { messageType }) => sum + fieldsIn(messageType), 0);
    if (fields > MOST_FIELDS)
      throw new Error(
        `What describes the services of its connection has more than ${MOST_FIELDS} fields: compile what is needed of it.`,
      );
    return openDescriptors(described.files);
  }
}

interface Nested {
  readonly field: readonly unknown[];
  readonly nestedType: readonly Nested[];
}

function fieldsIn(messages: readonly Nested[]): number {
  return messages.reduce((sum, { field, nestedType }) => sum + field.length + fieldsIn(nestedType), 0);
}
