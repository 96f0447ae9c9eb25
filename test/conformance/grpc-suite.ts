// The suite's tools as methods of a gRPC upstream.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { grpcServer } from '../helpers/grpc-upstream.ts';
import { MAX_RESULT_BYTES } from './executor.suite.ts';

const PROTO = `syntax = "proto3";
package suite.v1;
message Number { int32 n = 1; }
message Nothing {}
message Text { string text = 1; }
service Suite {
  rpc echo(Number) returns (Number);
  rpc slow(Nothing) returns (Text);
  rpc hang(Nothing) returns (Text);
  rpc large(Nothing) returns (Text);
  rpc failing(Nothing) returns (Text);
  rpc crash(Nothing) returns (Text);
}
`;

export async function grpcSuite(dir: string, secret: string) {
  const proto = join(dir, 'suite.proto');
  writeFileSync(proto, PROTO);
  writeFileSync(join(dir, 'secret'), secret);
  const server = await grpcServer({
    proto,
    service: 'suite.v1.Suite',
    handlers: {
      echo: ({ request }: { request: object }, done: (error: null, answer: object) => void) =>
        done(null, request),
      slow: () => undefined,
      hang: () => undefined,
      large: (_: unknown, done: (error: null, answer: object) => void) =>
        done(null, { text: 'x'.repeat(MAX_RESULT_BYTES + 1) }),
      failing: ({ metadata }: { metadata: { getMap(): object } }, done: (error: object) => void) =>
        done({ code: status.FAILED_PRECONDITION, details: JSON.stringify(metadata.getMap()) }),
      // As a server says it whose code threw; one that is gone takes along whatever is on its connection.
      crash: (_: unknown, done: (error: Error) => void) => done(new Error('no such luck')),
    },
  });
  const connections = {
    upstream: {
      type: 'grpc',
      target: server.target,
      tls: false,
      protos: proto,
      auth: { type: 'bearer', token: `\${file:${join(dir, 'secret')}}` },
      allow_private: ['127.0.0.0/8'],
      allow_ports: ['1-65535'],
    },
  };
  const implementation = (tool: string) => ({ connection: 'upstream', method: `suite.v1.Suite/${tool}` });
  return { connections, implementation, stop: () => server.stop() };
}
