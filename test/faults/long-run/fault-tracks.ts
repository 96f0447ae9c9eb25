// What breaks during a fault run: Redis, PostgreSQL and the gateways, each at random moments of its own, so that they meet.
import { setTimeout as pause } from 'node:timers/promises';
import type { FaultBench, Replica } from '../../helpers/fault-bench.ts';
import type { TcpProxy } from '../../helpers/tcp-proxy.ts';
import type { Random } from './random.ts';

export interface FaultSpan {
  readonly of: 'redis' | 'postgres' | 'gateway';
  readonly kind: string;
  readonly from: number;
  /** Undefined while it lasts. */
  to?: number;
}

interface Server {
  kill(): Promise<void>;
  restart(): Promise<void>;
  pause(): void;
  resume(): void;
}

/** Of one server: begins the fault, lets it last, ends it. */
type Fault = (server: Server, line: TcpProxy, lastsMs: number) => Promise<void>;

const FAULTS: Readonly<Record<string, Fault>> = {
  'killed and started again': async (server, _line, lastsMs) => {
    await server.kill();
    await pause(lastsMs);
    await server.restart();
  },
  paused: async (server, _line, lastsMs) => {
    server.pause();
    await pause(lastsMs);
    server.resume();
  },
  'connections cut': async (_server, line) => line.cut(),
  'connections dead without saying so': async (_server, line) => line.setMode({ kind: 'half_open' }),
  unreachable: (_server, line, lastsMs) => during(line, 'cut', lastsMs),
  'a black hole': (_server, line, lastsMs) => during(line, 'blackhole', lastsMs),
};

const SHORTEST_MS = 200;
const LONGEST_MS = 25_000;
const REST_MS = [3_000, 20_000] as const;

export class FaultTracks {
  readonly spans: FaultSpan[] = [];
  readonly #bench: FaultBench;
  readonly #settings: Readonly<Record<string, unknown>>;
  readonly #stopping = new AbortController();
  #tracks: readonly Promise<void>[] = [];

  /** `settings`: with which a gateway is started again. */
  constructor(bench: FaultBench, settings: Readonly<Record<string, unknown>>) {
    this.#bench = bench;
    this.#settings = settings;
  }

  begin(random: Random): void {
    const { redis, redisLine, postgres, postgresLine } = this.#bench;
    this.#tracks = [
      this.#again(random.fork(), (own) => this.#breakServer('redis', redis, redisLine, own)),
      this.#again(random.fork(), (own) => this.#breakServer('postgres', postgres, postgresLine, own)),
      this.#again(random.fork(), (own) => this.#endGateway(own)),
    ];
  }

  /** Resolves when nothing is broken any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#tracks);
  }

  async #again(random: Random, fault: (random: Random) => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await pause(random.between(...REST_MS), undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await fault(random);
    }
  }

  async #breakServer(of: FaultSpan['of'], server: Server, line: TcpProxy, random: Random): Promise<void> {
    const kind = random.of(Object.keys(FAULTS));
    // Short ones are as many as long ones: 0.2 to 25 s.
    const lastsMs = SHORTEST_MS * (LONGEST_MS / SHORTEST_MS) ** random.next();
    await this.#during(of, kind, async () => FAULTS[kind]?.(server, line, lastsMs));
    line.setMode({ kind: 'pass' });
  }

  async #endGateway(random: Random): Promise<void> {
    const replica = random.of(this.#bench.replicas);
    const isKilled = random.next() < 0.75;
    const awayMs = random.between(0, 10_000);
    await this.#during('gateway', isKilled ? 'killed' : 'stopped', async () => {
      await (isKilled ? this.#bench.kill(replica) : this.#bench.end(replica));
      await pause(awayMs);
      await this.#startAgain(replica);
    });
  }

  /** As an orchestrator does: while PostgreSQL is away, a gateway does not start. */
  async #startAgain({ name }: Replica): Promise<void> {
    for (;;) {
      const started = await this.#bench.gateway(name, { settings: this.#settings }).catch(() => undefined);
      if (started !== undefined) return;
    }
  }

  async #during(of: FaultSpan['of'], kind: string, fault: () => Promise<void>): Promise<void> {
    const span: FaultSpan = { of, kind, from: Date.now() };
    this.spans.push(span);
    await fault();
    span.to = Date.now();
  }
}

async function during(line: TcpProxy, kind: 'cut' | 'blackhole', lastsMs: number): Promise<void> {
  line.setMode({ kind });
  await pause(lastsMs);
  line.setMode({ kind: 'pass' });
}
