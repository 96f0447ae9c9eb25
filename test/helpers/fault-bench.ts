// What the fault suites break: one Redis and one PostgreSQL behind proxies, a counting upstream, gateways as processes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { FaultUpstream } from './fault-upstream.ts';
import { configured, GatewayProcess, type Doors } from './gateway-process.ts';
import { startPostgres, type Postgres } from './postgres.ts';
import { startRedis, type RedisServer } from './redis.ts';
import { callTool, type RestTarget } from './rest-client.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { removeDir, tempDir } from './temp-tools.ts';
import { eventually } from './eventually.ts';

/** Of `pay` and `pay_again` together: each has its own. */
export const LIMIT = 4;
/** Of `metered`: calls in a second, and how many of them at once. */
export const RATE = 20;
export const BURST = 20;
/** The time of a lease in Redis, and the second within which a loss is noticed: how long a limit may be exceeded. */
export const QUARANTINE_MS = 16_000;
/** A statement whose connection is dead is given up after 12 s. */
const RECOVERED_MS = 20_000;

export interface Replica extends RestTarget {
  readonly name: string;
  readonly process: GatewayProcess;
  readonly metrics: string;
}

export interface ReplicaOptions {
  readonly failpoint?: string;
  readonly settings?: { readonly redis?: object; readonly [name: string]: unknown };
  /** Besides what a gateway needs. */
  readonly env?: Readonly<Record<string, string>>;
}

export class FaultBench {
  readonly dir = tempDir();
  readonly replicas: Replica[] = [];
  readonly #key = createApiKey();

  readonly redis: RedisServer;
  readonly postgres: Postgres;
  readonly redisLine: TcpProxy;
  readonly postgresLine: TcpProxy;
  readonly upstream: FaultUpstream;

  private constructor(
    parts: Pick<FaultBench, 'redis' | 'postgres' | 'redisLine' | 'postgresLine' | 'upstream'>,
  ) {
    this.redis = parts.redis;
    this.postgres = parts.postgres;
    this.redisLine = parts.redisLine;
    this.postgresLine = parts.postgresLine;
    this.upstream = parts.upstream;
    writeFileSync(join(this.dir, 'tools.yaml'), stringify(toolsFor(parts.upstream.url)));
  }

  static async start(): Promise<FaultBench> {
    const [redis, postgres, upstream] = await Promise.all([
      startRedis(),
      startPostgres(),
      new FaultUpstream().start(),
    ]);
    const [redisLine, postgresLine] = await Promise.all([
      startTcpProxy(redis.port),
      startTcpProxy(postgres.port),
    ]);
    return new FaultBench({ redis, postgres, redisLine, postgresLine, upstream });
  }

  /** One more gateway on the same Redis and PostgreSQL; of a name that was there before, with the same data directory. */
  async gateway(
    name: string,
    { failpoint, settings = {}, env: more }: ReplicaOptions = {},
  ): Promise<Replica> {
    const dir = join(this.dir, name);
    mkdirSync(dir, { recursive: true });
    const { id, secretHash, text } = this.#key;
    const { redis = {}, ...others } = settings;
    const env = configured(dir, {
      auth: { keys: [{ id, secret_sha256: secretHash.toString('hex'), tenant: 'acme', roles: ['admin'] }] },
      loaders: [{ type: 'yaml-file', paths: [join(this.dir, 'tools.yaml')] }],
      redis: { url: `redis://127.0.0.1:${this.redisLine.port}`, ...redis },
      database: { url: this.postgres.url(undefined, this.postgresLine.port) },
      webhooks: {
        allow_hosts: ['127.0.0.1'],
        allow_private: ['127.0.0.0/8'],
        allow_ports: ['1-65535'],
        allow_http: true,
        secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
        base_delay_ms: 100,
      },
      ...others,
    });
    Object.assign(env, more);
    if (failpoint !== undefined) Object.assign(env, { NODE_ENV: 'test', UTE_FAILPOINT: failpoint });
    const process = new GatewayProcess(dir, env);
    const doors: Doors = await process.ready().catch(async (error: unknown) => {
      await process.end();
      throw error;
    });
    const metrics = doors.metrics.endsWith('/metrics') ? doors.metrics : `${doors.metrics}/metrics`;
    const replica: Replica = { name, process, url: doors.rest, key: text, metrics };
    this.replicas.push(replica);
    return replica;
  }

  /** As kill -9 does; resolves when it is gone. */
  async kill(replica: Replica): Promise<void> {
    this.replicas.splice(this.replicas.indexOf(replica), 1);
    await replica.process.end();
  }

  /** As an orchestrator ends it: what it has done is on record when it is gone. */
  async end(replica: Replica): Promise<void> {
    this.replicas.splice(this.replicas.indexOf(replica), 1);
    replica.process.signal('SIGTERM');
    await replica.process.exited;
  }

  /** Gateways that do not answer, count by Redis and write into PostgreSQL again, though nobody started them anew. */
  async unrecovered(): Promise<readonly string[]> {
    const well = await Promise.all(
      this.replicas.map((replica) =>
        eventually(() => isWell(replica), replica.name, RECOVERED_MS).catch(() => false),
      ),
    );
    return this.replicas.filter((_, index) => !well[index]).map(({ name }) => name);
  }

  async stop(): Promise<void> {
    this.upstream.letGo();
    await Promise.all(this.replicas.map(({ process }) => process.end()));
    await Promise.all([this.redisLine.close(), this.postgresLine.close(), this.upstream.stop()]);
    await Promise.all([this.redis.stop(), this.postgres.stop()]);
    removeDir(this.dir);
  }
}

let refs = 0;

/** What a call is known by at the upstream. */
export function newRef(): string {
  refs += 1;
  return `r${refs}`;
}

/** What a gateway says that it does without. */
export async function degraded({ metrics }: Replica): Promise<readonly string[]> {
  const text = await (await fetch(metrics)).text();
  return [...text.matchAll(/^ute_degraded\{component="([^"]*)"[^}]*\} [^0]/gm)].map(
    ([, component = '']) => component,
  );
}

async function isWell(replica: Replica): Promise<boolean> {
  for (const [tool, args] of [
    ['look', {}],
    ['pay', { ref: `after-${newRef()}` }],
  ] as const) {
    const { body } = await callTool(replica, tool, args);
    const { degraded: without } = body.meta as unknown as { degraded: readonly string[] };
    if (!body.ok || without.length > 0) return false;
  }
  return (await degraded(replica)).length === 0;
}

function toolsFor(upstream: string): object {
  const run = {
    tool_type: 'http',
    input_schema: {
      type: 'object',
      properties: { ref: { type: 'string' }, ms: { type: 'integer', default: 0 } },
      required: ['ref'],
    },
    implementation_config: {
      connection: 'upstream',
      method: 'POST',
      path: '/run/{ref}',
      query: { ms: '{ms}' },
    },
    concurrency: { limit: LIMIT, per: 'tool', max_queue: 200, max_wait_ms: 25_000 },
    timeout_ms: 30_000,
  };
  return {
    connections: {
      upstream: {
        type: 'http',
        base_url: upstream,
        allow_private: ['127.0.0.0/8'],
        allow_ports: ['1-65535'],
      },
    },
    tools: [
      { ...run, name: 'pay', description: 'May not run twice' },
      {
        ...run,
        name: 'metered',
        description: 'May run as often as its rate allows',
        metadata: { read_only: true },
        concurrency: undefined,
        rate_limits: [{ per: 'tool', rate: RATE, period: '1s', burst: BURST }],
      },
      { ...run, name: 'pay_again', description: 'May run twice', metadata: { idempotent: true } },
      {
        name: 'look',
        description: 'Changes nothing',
        tool_type: 'http',
        implementation_config: { connection: 'upstream', path: '/look' },
        metadata: { read_only: true },
      },
    ],
  };
}
