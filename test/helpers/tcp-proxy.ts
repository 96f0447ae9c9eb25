// A TCP proxy that counts round trips (the client speaks again after the server did) and bytes, and can break the line.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * `pass`: everything goes through. `cut`: connections are reset, and new ones at once. `blackhole`: nothing arrives, on
 * either side, and nobody is told; what was under way arrives after it. `latency`: everything to the client comes later.
 * `half_open`: the server's side is gone for good, the client is not told; new connections work.
 */
export type ProxyMode =
  | { readonly kind: 'pass' | 'cut' | 'blackhole' | 'half_open' }
  | { readonly kind: 'latency'; readonly ms: number };

export interface TcpProxy {
  readonly port: number;
  readonly roundTrips: number;
  readonly bytesToClient: number;
  reset(): void;
  /** Cuts every connection as a lost network would; new ones work. */
  cut(): void;
  /**
   * Cuts the next connection on which a client has said all of `texts` in this order; resolves when it is cut. `unsent`:
   * the server never hears the last one. `unanswered`: it has done as it was told, and the client never learns.
   */
  cutAt(texts: readonly string[], when: 'unsent' | 'unanswered'): Promise<void>;
  setMode(mode: ProxyMode): void;
  close(): Promise<void>;
}

interface Line {
  readonly client: Socket;
  readonly server: Socket;
  serverSpokeLast: boolean;
  /** What the server says next is not passed on: it is the end of this connection. */
  doomed?: () => void;
}

interface Trap {
  readonly texts: readonly string[];
  /** How many of them each client has said. */
  readonly said: WeakMap<Line, number>;
  readonly when: 'unsent' | 'unanswered';
  readonly sprung: () => void;
}

class Proxy {
  readonly counts = { roundTrips: 0, bytesToClient: 0 };
  #mode: ProxyMode = { kind: 'pass' };
  readonly #lines = new Set<Line>();
  #trap: Trap | undefined;
  /** Clients whose server is gone without their knowing. */
  readonly #lost = new Set<Socket>();

  readonly targetPort: number;

  constructor(targetPort: number) {
    this.targetPort = targetPort;
  }

  accept(client: Socket): void {
    if (this.#mode.kind === 'cut') {
      client.resetAndDestroy();
      return;
    }
    const line: Line = { client, server: connect(this.targetPort, '127.0.0.1'), serverSpokeLast: true };
    this.#lines.add(line);
    client.on('data', (chunk) => this.#toServer(line, chunk));
    line.server.on('data', (chunk) => this.#toClient(line, chunk));
    client.on('drain', () => this.#mode.kind !== 'blackhole' && line.server.resume());
    for (const [socket, other] of [
      [client, line.server],
      [line.server, client],
    ] as const) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (!this.#lines.delete(line)) return;
        other.destroy();
      });
    }
    if (this.#mode.kind === 'blackhole') hold(line);
  }

  setMode(mode: ProxyMode): void {
    this.#mode = mode;
    if (mode.kind === 'cut') this.cut();
    if (mode.kind === 'half_open') this.#loseServers();
    for (const line of this.#lines) {
      if (mode.kind === 'blackhole') hold(line);
      else letGo(line);
    }
  }

  cut(): void {
    for (const { client, server } of this.#lines) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  }

  cutAt(texts: readonly string[], when: Trap['when']): Promise<void> {
    return new Promise((sprung) => (this.#trap = { texts, said: new WeakMap(), when, sprung }));
  }

  /** Whether the line is cut before this is sent. */
  #springs(line: Line, chunk: Buffer): boolean {
    if (this.#trap === undefined) return false;
    const { texts, said, when, sprung } = this.#trap;
    const before = said.get(line) ?? 0;
    if (!chunk.includes(texts[before] ?? '')) return false;
    said.set(line, before + 1);
    if (before + 1 < texts.length) return false;
    this.#trap = undefined;
    line.doomed = sprung;
    return when === 'unsent';
  }

  #toServer(line: Line, chunk: Buffer): void {
    if (this.#springs(line, chunk)) {
      cutOff(line);
      return;
    }
    if (line.serverSpokeLast) this.counts.roundTrips += 1;
    line.serverSpokeLast = false;
    if (!line.server.destroyed) line.server.write(chunk);
  }

  #toClient(line: Line, chunk: Buffer): void {
    if (line.doomed !== undefined) {
      cutOff(line);
      return;
    }
    line.serverSpokeLast = true;
    this.counts.bytesToClient += chunk.length;
    if (this.#mode.kind === 'latency') setTimeout(() => line.client.write(chunk), this.#mode.ms);
    else if (!line.client.write(chunk)) line.server.pause();
  }

  /** The lines are forgotten, so that the end of one side is no end of the other. */
  #loseServers(): void {
    for (const line of this.#lines) {
      this.#lines.delete(line);
      this.#lost.add(line.client);
      line.client.on('close', () => this.#lost.delete(line.client));
      line.server.resetAndDestroy();
    }
  }

  end(): void {
    this.cut();
    for (const client of this.#lost) client.destroy();
  }
}

function cutOff({ client, server, doomed }: Line): void {
  client.resetAndDestroy();
  server.destroy();
  doomed?.();
}

function hold({ client, server }: Line): void {
  client.pause();
  server.pause();
}

function letGo({ client, server }: Line): void {
  client.resume();
  server.resume();
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const proxy = new Proxy(targetPort);
  const server = createServer((client) => proxy.accept(client));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    get roundTrips() {
      return proxy.counts.roundTrips;
    },
    get bytesToClient() {
      return proxy.counts.bytesToClient;
    },
    reset() {
      proxy.counts.roundTrips = 0;
      proxy.counts.bytesToClient = 0;
    },
    cut: () => proxy.cut(),
    cutAt: (text, when) => proxy.cutAt(text, when),
    setMode: (mode) => proxy.setMode(mode),
    async close() {
      proxy.end();
      await new Promise((done) => server.close(done));
    },
  };
}
