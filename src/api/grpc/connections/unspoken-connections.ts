// Ends connections that do not begin to speak HTTP/2: grpc-js keeps them until its keepalive finds them dead, for more than a minute.
import type { Http2Server, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Server } from '@grpc/grpc-js';
import { eachHttp2Server } from './each-http2-server.ts';

/** As long as REST waits for the head of a request. */
const WITHIN_MS = 10_000;

/** Before the server is bound. */
export function endUnspokenConnections(server: Server, withinMs = WITHIN_MS): void {
  eachHttp2Server(server, (http2) => watch(http2, withinMs));
}

function watch(http2: Http2Server, withinMs: number): void {
  // With TLS there is a session only behind the handshake, for which Node waits two minutes.
  http2.on('connection', (socket: Socket) => {
    const timer = setTimeout(() => {
      if (socket.bytesRead === 0) socket.destroy();
    }, withinMs);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  });
  http2.on('session', (session: ServerHttp2Session) => {
    const timer = setTimeout(() => session.destroy(), withinMs);
    timer.unref();
    // Every client says its settings first.
    session.once('remoteSettings', () => clearTimeout(timer));
    session.once('close', () => clearTimeout(timer));
  });
}
