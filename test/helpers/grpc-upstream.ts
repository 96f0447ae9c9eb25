// A real gRPC server on loopback, of test/fixtures/grpc/kitchen.proto, with server reflection, for tests.
import {
  loadPackageDefinition,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ServiceClientConstructor,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { create, toBinary } from '@bufbuild/protobuf';
import { DurationSchema } from '@bufbuild/protobuf/wkt';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { join } from 'node:path';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export const KITCHEN = join(import.meta.dirname, '../fixtures/grpc/kitchen.proto');

export interface UpstreamOptions {
  readonly proto?: string;
  readonly service?: string;
  readonly reflection?: boolean;
  readonly credentials?: ServerCredentials;
  readonly handlers?: UntypedServiceImplementation;
  readonly port?: number;
}

export interface GrpcServer {
  readonly target: string;
  readonly port: number;
  /** What the server saw of each call that began. */
  readonly seen: {
    readonly method: string;
    readonly deadlineMs: number;
    cancelled: boolean;
    readonly metadata: Record<string, unknown>;
  }[];
  /** Cuts off whoever is connected. */
  drop(): void;
  stop(): void;
}

interface Call {
  readonly request: Record<string, unknown>;
  readonly metadata: Metadata;
  getDeadline(): Date | number;
  getPath(): string;
  on(event: 'cancelled', listener: () => void): void;
  once(event: 'drain', listener: () => void): void;
  write(message: unknown): boolean;
  end(): void;
  readonly cancelled: boolean;
}
type Done = (error: unknown, answer?: unknown) => void;

export async function grpcServer({
  proto = KITCHEN,
  service = 'kitchen.v1.Kitchen',
  reflection = true,
  credentials = ServerCredentials.createInsecure(),
  handlers = {},
  port = 0,
}: UpstreamOptions = {}): Promise<GrpcServer> {
  const definition = loadSync(proto, { keepCase: true, longs: String, includeDirs: [join(proto, '..')] });
  let scope: unknown = loadPackageDefinition(definition);
  for (const part of service.split('.')) scope = (scope as Record<string, unknown>)[part];
  const { service: methods } = scope as ServiceClientConstructor;
  const server = new Server();
  const seen: GrpcServer['seen'][number][] = [];
  const watched = (handler: (call: Call, done: Done) => void) => (call: Call, done: Done) => {
    const entry = {
      method: call.getPath(),
      deadlineMs: Number(call.getDeadline()) - Date.now(),
      cancelled: false,
      metadata: call.metadata.getMap(),
    };
    seen.push(entry);
    call.on('cancelled', () => (entry.cancelled = true));
    handler(call, done);
  };
  const all = { ...kitchen, ...handlers } as Record<string, (call: Call, done: Done) => void>;
  const known = Object.keys(methods).map((name) => [
    name,
    watched(all[name] ?? ((_, done) => done({ code: status.UNIMPLEMENTED, details: 'not here' }))),
  ]);
  server.addService(methods, Object.fromEntries(known) as UntypedServiceImplementation);
  if (reflection) new ReflectionService(definition).addToServer(server);
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', credentials, (error, found) =>
      error === null ? resolve(found) : reject(error),
    ),
  );
  // A door in front of it, so that connections can be cut off.
  const sockets = new Set<Socket>();
  const door = createServer((socket) => {
    const inner = connect(bound, '127.0.0.1');
    for (const each of [socket, inner]) {
      sockets.add(each);
      each
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(each);
          socket.destroy();
          inner.destroy();
        });
    }
    socket.pipe(inner).pipe(socket);
  });
  const outside = await new Promise<number>((resolve, reject) => {
    door.on('error', reject).listen(port, '127.0.0.1', () => resolve((door.address() as AddressInfo).port));
  });
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const stop = (): void => {
    door.close();
    drop();
    server.forceShutdown();
  };
  return { target: `127.0.0.1:${outside}`, port: outside, seen, drop, stop };
}

const kitchen: Record<string, (call: Call, done: Done) => void> = {
  Echo: ({ request }, done) => done(null, request),
  Count(call) {
    const { to, endless } = call.request as { to: number; endless: boolean };
    const last = endless ? Infinity : to;
    let at = 0;
    const more = (): void => {
      while (!call.cancelled && at < last) {
        at += 1;
        if (!call.write({ value: at })) {
          call.once('drain', more);
          return;
        }
      }
      if (!endless) call.end();
    };
    more();
  },
  Fail({ request }, done) {
    const {
      code,
      message,
      with_details: withDetails,
    } = request as { code: number; message: string; with_details: boolean };
    const metadata = new Metadata();
    if (withDetails) metadata.set('grpc-status-details-bin', Buffer.from(richStatus(code)));
    done({ code, details: message, metadata });
  },
  Metadata: ({ metadata }, done) =>
    done(null, {
      text: 'seen',
      metadata: Object.fromEntries(
        Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)]),
      ),
    }),
  Large: ({ request }, done) => done(null, { text: 'x'.repeat(Number(request['value'])) }),
  Hang: () => undefined,
  OldOne: (_, done) => done(null, { text: 'old' }),
};

/** A google.rpc.Status with a BadRequest, an ErrorInfo and a RetryInfo. */
function richStatus(code: number): Uint8Array {
  const text = (number: number, value: string) =>
    new BinaryWriter().tag(number, WireType.LengthDelimited).string(value).finish();
  const inside = (number: number, bytes: Uint8Array) =>
    new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();
  const join = (...parts: Uint8Array[]) => Buffer.concat(parts);
  const any = (type: string, value: Uint8Array) =>
    join(text(1, `type.googleapis.com/${type}`), inside(2, value));
  const violation = join(text(1, 'child.numbers[2]'), text(2, 'must be even'));
  const delay = toBinary(DurationSchema, create(DurationSchema, { seconds: 2n, nanos: 500_000_000 }));
  return join(
    new BinaryWriter().tag(1, WireType.Varint).int32(code).finish(),
    inside(3, any('google.rpc.BadRequest', inside(1, violation))),
    inside(3, any('google.rpc.ErrorInfo', text(1, 'KITCHEN_CLOSED'))),
    inside(3, any('google.rpc.RetryInfo', inside(1, delay))),
  );
}
