// What the alerts are caused on: gateways as processes on a Redis and a PostgreSQL that can be cut off, and a Prometheus that
// scrapes them and has the rules of deploy/prometheus, each without its time to wait.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { eventually } from '../helpers/eventually.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { freePorts } from '../helpers/free-port.ts';
import { Prometheus } from '../helpers/prometheus.ts';
import { startRedis, type RedisServer } from '../helpers/redis.ts';
import type { RestTarget } from '../helpers/rest-client.ts';
import { startTcpProxy, type TcpProxy } from '../helpers/tcp-proxy.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const RULES = resolve(import.meta.dirname, '../../deploy/prometheus');

interface Rules {
  readonly groups: { interval?: string; readonly rules: { readonly alert?: string; for?: string }[] }[];
}
const rulesOf = (file: string) => parse(readFileSync(join(RULES, file), 'utf8')) as Rules;

export const ALERTS = rulesOf('alerts.yaml').groups.flatMap(({ rules }) =>
  rules.map(({ alert = '' }) => alert),
);

export interface Replica extends RestTarget {
  readonly name: string;
  readonly process: GatewayProcess;
}

/** The gateways that there may be: Prometheus knows their ports before they start. */
const NAMES = ['cut-off', 'a', 'b', 'small', 'api', 'worker'] as const;
type Name = (typeof NAMES)[number];

export class AlertBench {
  readonly dir = tempDir();
  readonly redis: RedisServer;
  readonly postgres: Postgres;
  readonly prometheus: Prometheus;
  readonly #ports: Readonly<Record<string, number>>;
  readonly #key = createApiKey();
  readonly #replicas = new Set<Replica>();
  readonly #lines: TcpProxy[] = [];

  private constructor(
    ports: Readonly<Record<string, number>>,
    redis: RedisServer,
    postgres: Postgres,
    prometheus: Prometheus,
  ) {
    this.#ports = ports;
    this.redis = redis;
    this.postgres = postgres;
    this.prometheus = prometheus;
  }

  static async start(): Promise<AlertBench> {
    const dir = tempDir();
    for (const file of ['alerts.yaml', 'slo.yaml']) {
      const rules = rulesOf(file);
      for (const group of rules.groups) {
        delete group.interval;
        for (const rule of group.rules) delete rule.for;
      }
      writeFileSync(join(dir, file), stringify(rules));
    }
    const free = await freePorts(NAMES.length);
    const ports = Object.fromEntries(NAMES.map((name, index) => [name, free[index] ?? 0]));
    const [redis, postgres, prometheus] = await Promise.all([
      startRedis(),
      startPostgres(),
      Prometheus.start(join(dir, 'prometheus'), [join(dir, '*.yaml')], ports),
    ]);
    return new AlertBench(ports, redis, postgres, prometheus);
  }

  /** A way to a port of this machine that can be cut. */
  async line(port: number): Promise<TcpProxy> {
    const line = await startTcpProxy(port);
    this.#lines.push(line);
    return line;
  }

  folder(name: string): string {
    const dir = join(this.dir, name);
    mkdirSync(dir, { recursive: true });
    return dir;
  }

  /** One more gateway, which is scraped; of a name that was there before, with the same data directory. */
  async gateway(
    name: Name,
    settings: Readonly<Record<string, unknown>>,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<Replica> {
    const dir = this.folder(name);
    const { id, secretHash, text } = this.#key;
    const key = {
      id,
      secret_sha256: secretHash.toString('hex'),
      tenant: 'acme',
      roles: ['platform_admin'],
    };
    const env = configured(dir, {
      auth: { keys: [key], ...more },
      redis: { url: this.redis.url },
      database: { url: this.postgres.url() },
      metrics: { port: this.#ports[name] },
      ...settings,
    });
    const process = new GatewayProcess(dir, env);
    const doors = await process.ready().catch(async (error: unknown) => {
      await process.end();
      throw error;
    });
    const replica = { name, process, url: doors.rest, key: text };
    this.#replicas.add(replica);
    await eventually(async () => {
      const [up] = await this.prometheus.query(`ute_build_info{instance="${name}"}`);
      return up !== undefined;
    }, `a scrape of ${name}`);
    return replica;
  }

  /** As an orchestrator ends it. */
  async end(replica: Replica): Promise<void> {
    this.#replicas.delete(replica);
    replica.process.signal('SIGTERM');
    await replica.process.exited;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#replicas].map(({ process }) => process.end()));
    await Promise.all([this.prometheus.stop(), ...this.#lines.map((line) => line.close())]);
    await Promise.all([this.redis.stop(), this.postgres.stop()]);
    removeDir(this.dir);
  }
}
