// TLS handshakes under way: a server of HTTP neither knows such connections nor ends them, and waits for them when it closes.
import type { Server, Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

export interface Handshakes {
  /** Ends all that are under way. */
  cut(): void;
}

interface UnderWay {
  readonly connection: Socket;
  readonly timer: NodeJS.Timeout;
}

/** One that has not ended in time is cut off. On a server without TLS there is none. */
export function boundHandshakes(server: Server, withinMs: number): Handshakes {
  /** By the other end, which is all that a connection has in common with the one that TLS makes of it. */
  const underWay = new Map<string, UnderWay>();
  const forget = (peer: string) => {
    clearTimeout(underWay.get(peer)?.timer);
    underWay.delete(peer);
  };
  if (server instanceof TlsServer) {
    server.on('connection', (connection) => {
      const peer = peerOf(connection);
      const timer = setTimeout(() => {
        forget(peer);
        connection.destroy();
      }, withinMs);
      underWay.set(peer, { connection, timer: timer.unref() });
      connection.once('close', () => {
        if (underWay.get(peer)?.connection === connection) forget(peer);
      });
    });
    server.on('secureConnection', (secured) => forget(peerOf(secured)));
  }
  return {
    cut: () => {
      for (const { connection } of underWay.values()) connection.destroy();
    },
  };
}

function peerOf({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`;
}
