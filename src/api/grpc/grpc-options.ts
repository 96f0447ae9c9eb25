// The gRPC door's settings as Nest wants them: limits, TLS, keepalive, and what is added to the server besides the controller.
import type { Socket } from 'node:net';
import * as grpcJs from '@grpc/grpc-js';
import { Server, ServerCredentials, type ChannelOptions } from '@grpc/grpc-js';
import * as protoLoader from '@grpc/proto-loader';
import type { MethodDefinition, PackageDefinition, ServiceDefinition } from '@grpc/proto-loader';
import { ServerGrpc, type CustomStrategy, type GrpcOptions } from '@nestjs/microservices';
import { protoPath as healthProto } from 'grpc-health-check';
import { ArrivingBodies } from '../../lib/bytes/arriving-bodies.ts';
import type { Handshakes } from '../../lib/connections/handshakes.ts';
import type { ToolCaller } from '../../ports/tool-caller.ts';
import type { StreamHub } from '../stream/stream-hub.ts';
import { converseBy } from './converse/converse.ts';
import { executeBy } from './execute/execute.ts';
import { boundHalfMessages } from './connections/half-messages.ts';
import type { GrpcHealth } from './grpc-health.ts';
import { PROTO_DIR, PROTO_FILE, PROTO_PACKAGE, REQUESTS, SERVICE, SERVICE_NAME } from './wire-types.ts';
import { endUnspokenConnections } from './connections/unspoken-connections.ts';
import { MAX_SEND_BYTES } from './execute/write-response.ts';

export interface GrpcSettings {
  readonly host: string;
  readonly port: number;
  /** With `ca`, callers must show a certificate that it signed. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer; readonly ca?: Buffer };
  readonly reflection: boolean;
  /** Largest request. */
  readonly maxMessageBytes: number;
  readonly health: GrpcHealth;
  readonly caller: Pick<ToolCaller, 'execute'>;
  /** Left out: there are no streams that pause at calls. */
  readonly streams?: StreamHub | undefined;
  /** Connections come by this, and the server has no port. */
  readonly handed?: (take: (connection: Socket) => void) => void;
  /** How long closing waits for calls in flight before it cuts them. */
  readonly closeWithinMs?: number;
}

const MINUTE_MS = 60_000;
const DEFAULT_CLOSE_WITHIN_MS = 65_000;

const CHANNEL_OPTIONS: ChannelOptions = {
  // Bookkeeping per call for a debugging service that this server does not have.
  'grpc.enable_channelz': 0,
  'grpc.max_concurrent_streams': 100,
  'grpc.keepalive_time_ms': MINUTE_MS,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.keepalive_permit_without_calls': 1,
  // Long-lived clients come to new replicas. The grace is longer than any call should be: what still runs then is cut.
  'grpc.max_connection_age_ms': 5 * MINUTE_MS,
  'grpc.max_connection_age_grace_ms': 10 * MINUTE_MS,
};

export function grpcOptions(settings: GrpcSettings): CustomStrategy {
  const { host, port, tls, reflection, maxMessageBytes, health, caller } = settings;
  const credentials = tls === undefined ? ServerCredentials.createInsecure() : tlsCredentials(tls);
  const options: GrpcOptions['options'] = {
    url: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    package: PROTO_PACKAGE,
    protoPath: [PROTO_FILE, healthProto],
    loader: { keepCase: false, includeDirs: [PROTO_DIR] },
    credentials,
    channelOptions: {
      ...CHANNEL_OPTIONS,
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': MAX_SEND_BYTES,
    },
    // Without it Nest cuts the calls in flight at once.
    gracefulShutdown: true,
    onLoadPackageDefinition: (definition: PackageDefinition, server: Server) => {
      useOwnCodec(definition);
      health.addToServer(server, reflection ? definition : undefined);
    },
  };
  const { closeWithinMs = DEFAULT_CLOSE_WITHIN_MS, handed, streams } = settings;
  const own = {
    Execute: executeBy(caller),
    ...(streams !== undefined && { Converse: converseBy(streams) }),
  };
  const onBound = (bound: number) => health.setPort(bound);
  const arriving = ArrivingBodies.forBodiesOf(maxMessageBytes);
  return { strategy: new GrpcServer(options, { closeWithinMs, own, onBound, handed, arriving }) };
}

interface GrpcServerNeeds {
  readonly closeWithinMs: number;
  /** Methods that are no controller's, by their names. */
  readonly own: object;
  readonly onBound: (port: number) => void;
  readonly handed: GrpcSettings['handed'];
  readonly arriving: ArrivingBodies;
}

/** Nest's gRPC server, which also tells the port it got, and whose graceful close has an end. */
class GrpcServer extends ServerGrpc {
  readonly #options: GrpcOptions['options'];
  readonly #needs: GrpcServerNeeds;
  /** Takes no more connections, and ends those that are open within that time. */
  #drain: ((withinMs: number) => void) | undefined;
  #handshakes: Handshakes | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: GrpcOptions['options'], needs: GrpcServerNeeds) {
    super(options);
    this.#options = options;
    this.#needs = needs;
  }

  override async createClient(): Promise<Server> {
    const server = new Server(this.#options.channelOptions);
    const credentials = this.#options.credentials as ServerCredentials;
    const { handed, onBound, arriving } = this.#needs;
    boundHalfMessages(server, arriving);
    this.#handshakes = endUnspokenConnections(server);
    if (handed !== undefined) {
      const injector = server.createConnectionInjector(credentials);
      handed((connection) => injector.injectConnection(connection));
      this.#drain = (withinMs) => injector.drain(withinMs);
      return server;
    }
    const bound = await new Promise<number>((resolve, reject) => {
      server.bindAsync(this.url, credentials, (error, port) =>
        error === null ? resolve(port) : reject(error),
      );
    });
    onBound(bound);
    const address = this.url.replace(/:\d+$/, `:${bound}`);
    this.#drain = (withinMs) => server.drain(address, withinMs);
    return server;
  }

  /** The packages of this door itself. Nest would look for them on disk, and load them anew beside a bundle that holds them. */
  protected override loadPackageSynchronously<T>(name: string, _context: string, _load?: () => T): T {
    return (name === '@grpc/grpc-js' ? grpcJs : protoLoader) as T;
  }

  /** See execute/execute.ts and converse/converse.ts. */
  override async createService(definition: unknown, name: string): Promise<object> {
    const service = await super.createService(definition, name);
    return name === SERVICE ? { ...service, ...this.#needs.own } : service;
  }

  /** Safe to call twice: the service closes both doors at once, and Nest closes this one again after REST. */
  override close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  /** Without channelz grpc-js forgets its sessions for forceShutdown; drain knows them, and cuts them in time. */
  async #close(): Promise<void> {
    this.#drain?.(this.#needs.closeWithinMs);
    this.#handshakes?.cut();
    await super.close();
  }
}

function tlsCredentials({ cert, key, ca }: NonNullable<GrpcSettings['tls']>): ServerCredentials {
  return ServerCredentials.createSsl(ca ?? null, [{ cert_chain: cert, private_key: key }], ca !== undefined);
}

/**
 * Requests are decoded by wire-types.ts, so that a hostile one is refused in words, not with INTERNAL;
 * handlers return messages already encoded.
 */
function useOwnCodec(definition: PackageDefinition): void {
  const service = definition[SERVICE_NAME] as ServiceDefinition;
  for (const [name, decode] of Object.entries(REQUESTS)) {
    const method = service[name] as MethodDefinition<object, object>;
    method.requestDeserialize = decode as MethodDefinition<object, object>['requestDeserialize'];
    method.responseSerialize = (bytes) => bytes as Buffer;
  }
}
