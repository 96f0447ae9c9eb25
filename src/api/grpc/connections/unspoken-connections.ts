// Ends connections that do not begin to speak HTTP/2: grpc-js keeps them until its keepalive finds them dead, for more than a minute.
import type { Http2Server, ServerHttp2Session } from 'node:http2';
import type { Server } from '@grpc/grpc-js';
import { boundHandshakes, type Handshakes } from '../../../lib/connections/handshakes.ts';
import { eachHttp2Server } from './each-http2-server.ts';

/** As long as REST waits for the head of a request. */
const WITHIN_MS = 10_000;

/** Before the server is bound. What it gives ends those that have come no further than their TLS handshake. */
export function endUnspokenConnections(server: Server, withinMs = WITHIN_MS): Handshakes {
  const all: Handshakes[] = [];
  eachHttp2Server(server, (http2) => {
    // With TLS there is a session only behind the handshake.
    all.push(boundHandshakes(http2, withinMs));
    watchSessions(http2, withinMs);
  });
  return { cut: () => all.forEach((handshakes) => handshakes.cut()) };
}

function watchSessions(http2: Http2Server, withinMs: number): void {
  http2.on('session', (session: ServerHttp2Session) => {
    const timer = setTimeout(() => session.destroy(), withinMs);
    timer.unref();
    // Every client says its settings first.
    session.once('remoteSettings', () => clearTimeout(timer));
    session.once('close', () => clearTimeout(timer));
  });
}
