// Sources of the grpc loader for the suite that every loader passes: a .proto file, and an upstream that is asked itself.
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { GrpcJsUpstreams } from '../../src/infra/grpc/grpc-js-upstreams.ts';
import { grpcLoader } from '../../src/loaders/grpc/index.ts';
import { optionsSchema } from '../../src/loaders/grpc/options.ts';
import { grpcServer, type GrpcServer } from '../helpers/grpc-upstream.ts';
import { lastingPort } from '../helpers/lasting-port.ts';
import { RecordingMetrics } from '../helpers/python-ports.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import type { LoaderHarness } from './loader.suite.ts';

const SECRET = 'sup3r-s3cret-0f-the-entry';
const FILE = 'grpc:shop';

function protoOf(names: readonly string[]): string {
  const methods = names.map((name) => `rpc ${name}(Nothing) returns (Nothing);`).join('\n');
  return `syntax = "proto3";\npackage shop.v1;\nmessage Nothing {}\nservice Shop {\n${methods}\n}\n`;
}

interface Place {
  readonly said: object;
  readonly dir: string;
  readonly target: () => string;
}

function harnessOf({ said, dir, target }: Place) {
  const upstreams = new GrpcJsUpstreams(new RecordingMetrics());
  const set = () => {
    process.env['UTE_TEST_GRPC_TARGET'] = target();
    process.env['UTE_TEST_GRPC_TOKEN'] = SECRET;
  };
  const unset = () => {
    delete process.env['UTE_TEST_GRPC_TARGET'];
    delete process.env['UTE_TEST_GRPC_TOKEN'];
  };
  return {
    set,
    unset,
    upstreams,
    common: {
      open: (needs) =>
        grpcLoader.create({ ...needs, grpcUpstreams: upstreams, configDir: dir })(
          optionsSchema.parse({
            name: 'shop',
            prefix: '',
            tool_name: '{method}',
            target: '${env:UTE_TEST_GRPC_TARGET}',
            tls: false,
            allow_ports: ['1-65535'],
            allow_private: ['127.0.0.0/8'],
            auth: { type: 'bearer', token: '${env:UTE_TEST_GRPC_TOKEN}' },
            ...said,
          }),
        ),
      source: FILE,
      placeOf: () => ({ file: FILE }),
      spoil() {
        unset();
        return [
          { file: FILE, path: 'target' },
          { file: FILE, path: 'auth.token' },
        ];
      },
      secret: SECRET,
      held: () => 0,
    } satisfies Partial<LoaderHarness>,
  };
}

export async function grpcFile(): Promise<LoaderHarness> {
  const dir = tempDir();
  const { common, set, unset, upstreams } = harnessOf({
    said: { protos: 'shop.proto' },
    dir,
    target: () => '127.0.0.1:50051',
  });
  return {
    ...common,
    whenAway: 'refused',
    offer(...names) {
      set();
      writeFileSync(join(dir, 'shop.proto'), protoOf(names));
    },
    goAway: () => rmSync(join(dir, 'shop.proto')),
    hang: () => undefined,
    asked: async () => undefined,
    async close() {
      unset();
      await upstreams.close();
      removeDir(dir);
    },
  };
}

export async function grpcReflected(): Promise<LoaderHarness> {
  const dir = tempDir();
  const port = await lastingPort();
  let server: GrpcServer | undefined;
  let silent: Server | undefined;
  let sockets: Socket[] = [];
  let waiting = Promise.withResolvers<void>();
  const { common, set, unset, upstreams } = harnessOf({
    said: { reflection: true },
    dir,
    target: () => `127.0.0.1:${port}`,
  });
  async function goAway(): Promise<void> {
    server?.stop();
    server = undefined;
    for (const socket of sockets) socket.destroy();
    sockets = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    if (silent === undefined) resolve();
    else silent.close(() => resolve());
    await promise;
    silent = undefined;
  }
  return {
    ...common,
    whenAway: 'warned',
    async offer(...names) {
      await goAway();
      writeFileSync(join(dir, 'shop.proto'), protoOf(names));
      server = await grpcServer({ proto: join(dir, 'shop.proto'), service: 'shop.v1.Shop', port });
      set();
    },
    goAway,
    async hang() {
      await goAway();
      waiting = Promise.withResolvers();
      const { promise, resolve } = Promise.withResolvers<void>();
      silent = createServer((socket) => {
        sockets.push(socket.on('error', () => undefined));
        waiting.resolve();
      }).listen(port, '127.0.0.1', () => resolve());
      await promise;
    },
    asked: () => waiting.promise,
    async close() {
      unset();
      await goAway();
      await upstreams.close();
      removeDir(dir);
    },
  };
}
