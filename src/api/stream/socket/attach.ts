// Takes upgrades to WebSockets at the path of streams from an HTTP server. Any other request for an upgrade is answered as if it had not
// asked for one: HTTP leaves that open, and clients ask for HTTP/2 in that way.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { StreamHub } from '../stream-hub.ts';
import { openStream } from '../schema.ts';
import type { SocketTerms, StreamSockets } from './stream-sockets.ts';

/** For the options of the server: whether a request becomes an upgrade. Node from 22.21 and 24.9 on asks. */
export function asksForStream({ headers, url = '', method }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    (url === openStream.path || url.startsWith(`${openStream.path}?`))
  );
}

type UpgradingServer = Server & { readonly shouldUpgradeCallback?: (request: IncomingMessage) => boolean };

/** False: this Node would take every request for an upgrade away from REST, so that there are no WebSockets here. */
export function attachStreams(
  server: UpgradingServer,
  hub: StreamHub,
  terms: SocketTerms,
): (() => Promise<void>) | undefined {
  if (server.shouldUpgradeCallback === undefined) return undefined;
  let sockets: Promise<StreamSockets> | undefined;
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Loaded with the first client: a gateway that has none needs none of it.
    sockets ??= import('./stream-sockets.ts').then(({ StreamSockets: Sockets }) => new Sockets(hub, terms));
    sockets
      .then((opened) => opened.upgrade(request, socket, head))
      .catch((err: unknown) => {
        hub.parts.log.error({ err }, 'a WebSocket could not be opened');
        socket.destroy();
      });
  });
  return async () => (await sockets)?.close();
}
