// A TCP proxy that counts: round trips (the client speaks again after the server did) and bytes, and can cut the line.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  readonly roundTrips: number;
  readonly bytesToClient: number;
  reset(): void;
  /** Cuts every connection as a lost network would. */
  cut(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const counts = { roundTrips: 0, bytesToClient: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    let serverSpokeLast = true;
    client.on('data', (chunk) => {
      if (serverSpokeLast) counts.roundTrips += 1;
      serverSpokeLast = false;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      serverSpokeLast = true;
      counts.bytesToClient += chunk.length;
      if (!client.write(chunk)) upstream.pause();
    });
    client.on('drain', () => upstream.resume());
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get roundTrips() {
      return counts.roundTrips;
    },
    get bytesToClient() {
      return counts.bytesToClient;
    },
    reset() {
      counts.roundTrips = 0;
      counts.bytesToClient = 0;
    },
    cut,
    async close() {
      cut();
      await new Promise((done) => server.close(done));
    },
  };
}
