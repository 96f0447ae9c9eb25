// Redis as it is run for real: over TLS, behind sentinels, and as a cluster, of real servers on loopback.
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { certificateAuthority } from './certificates.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { startRedis } from './redis.ts';
import { removeDir } from './temp-tools.ts';

export interface RedisTopology {
  /** `redis` of gateway.yaml. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** What stands beside them in the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the server that takes writes; another one takes its place. Left out: there is none. */
  failOver?(): Promise<void>;
  stop(): Promise<void>;
}

/** Plain connections are for the helper alone: the gateway is told of the other port. Clients show a certificate. */
export async function redisOverTls(): Promise<RedisTopology> {
  const dir = mkdtempSync(join(tmpdir(), 'ute-redis-tls-'));
  const authority = certificateAuthority();
  const file = (name: string, content: Buffer) => {
    const path = join(dir, name);
    writeFileSync(path, content);
    chmodSync(path, 0o600);
    return path;
  };
  const server = authority.sign('/CN=redis', ['DNS.1 = localhost', 'IP.1 = 127.0.0.1']);
  const client = authority.sign('/CN=gateway');
  const ca = file('ca.pem', authority.cert);
  const port = await freePort();
  const redis = await startRedis([
    '--tls-port',
    String(port),
    '--tls-ca-cert-file',
    ca,
    '--tls-cert-file',
    file('redis.pem', server.cert),
    '--tls-key-file',
    file('redis.key', server.key),
  ]);
  return {
    settings: {
      url: `rediss://localhost:${port}`,
      tls: { ca_file: ca, cert_file: file('own.pem', client.cert), key_file: file('own.key', client.key) },
    },
    async stop() {
      await redis.stop();
      authority.remove();
      removeDir(dir);
    },
  };
}

const SERVER_PASSWORD = 'servers:p@ss/word';
const SENTINEL_PASSWORD = 'sentinels own word';

/** The same where servers and sentinel want a password each, which the gateway is told by files, as secrets are mounted. */
export function redisBehindGuardedSentinel(): Promise<RedisTopology> {
  return redisBehindSentinel(true);
}

/** A server, its replica, and a sentinel that needs nobody's vote to make it take over. */
export async function redisBehindSentinel(isGuarded = false): Promise<RedisTopology> {
  const dir = mkdtempSync(join(tmpdir(), 'ute-redis-sentinel-'));
  const first = await startRedis();
  const second = await startRedis([
    '--replicaof',
    `127.0.0.1 ${first.port}`,
    '--repl-diskless-sync-delay',
    '0',
  ]);
  await eventually(async () => (await second.client.info('replication')).includes('master_link_status:up'));
  const conf = join(dir, 'sentinel.conf');
  writeFileSync(
    conf,
    `sentinel monitor limits 127.0.0.1 ${first.port} 1\n${isGuarded ? `sentinel auth-pass limits ${SERVER_PASSWORD}\n` : ''}sentinel down-after-milliseconds limits 500\nsentinel failover-timeout limits 5000\n`,
  );
  if (isGuarded) {
    // Connections that are open stay good; those that the helper opens anew show the password.
    for (const { client } of [first, second]) client.options.password = SERVER_PASSWORD;
    await Promise.all(
      [first, second].map(({ client }) => client.config('SET', 'masterauth', SERVER_PASSWORD)),
    );
    await Promise.all(
      [first, second].map(({ client }) => client.config('SET', 'requirepass', SERVER_PASSWORD)),
    );
  }
  const sentinel = await startRedis([], { conf, args: ['--sentinel'] });
  const asked = new Redis(sentinel.port, '127.0.0.1');
  await eventually(async () => {
    const replicas = await asked.call('SENTINEL', 'REPLICAS', 'limits');
    return Array.isArray(replicas) && replicas.length === 1;
  });
  asked.disconnect();
  const common = { mode: 'sentinel', master_name: 'limits' };
  const mounted = (name: string, text: string) => {
    const path = join(dir, name);
    writeFileSync(path, `${text}\n`, { mode: 0o600 });
    return path;
  };
  if (isGuarded)
    await sentinel.client.call('ACL', 'SETUSER', 'default', 'resetpass', `>${SENTINEL_PASSWORD}`);
  const url = new URL(sentinel.url);
  url.password = encodeURIComponent(SERVER_PASSWORD);
  return {
    settings: isGuarded ? common : { ...common, url: sentinel.url },
    ...(isGuarded && {
      env: {
        UTE_REDIS_URL_FILE: mounted('url', url.href),
        UTE_REDIS_SENTINEL_PASSWORD_FILE: mounted('sentinel', SENTINEL_PASSWORD),
      },
    }),
    async failOver() {
      await first.kill();
      await eventually(async () => (await second.client.info('replication')).includes('role:master'));
    },
    async stop() {
      await sentinel.stop();
      await Promise.all([first.stop(), second.stop()]);
      removeDir(dir);
    },
  };
}

const SLOTS = 16_384;
const NODES = 3;

/** Three nodes without replicas: keys of one script that lay apart would be refused. */
export async function redisCluster(): Promise<RedisTopology> {
  const dir = mkdtempSync(join(tmpdir(), 'ute-redis-cluster-'));
  const started = Array.from({ length: NODES }, async (_, at) => {
    const bus = ['--cluster-port', String(await freePort())];
    const file = ['--cluster-config-file', join(dir, `nodes-${at}.conf`)];
    return { bus: Number(bus[1]), redis: await startRedis(['--cluster-enabled', 'yes', ...file, ...bus]) };
  });
  const nodes = await Promise.all(started);
  const share = Math.ceil(SLOTS / NODES);
  await Promise.all(
    nodes.map(async ({ redis, bus }, at) => {
      const last = Math.min(SLOTS, (at + 1) * share) - 1;
      await redis.client.call('CLUSTER', 'ADDSLOTSRANGE', at * share, last);
      await nodes[0]?.redis.client.call('CLUSTER', 'MEET', '127.0.0.1', redis.port, bus);
    }),
  );
  await eventually(async () => {
    const states = await Promise.all(nodes.map(({ redis }) => redis.client.call('CLUSTER', 'INFO')));
    return states.every((state) => String(state).includes('cluster_state:ok'));
  });
  const [first, second] = nodes;
  return {
    settings: {
      url: first?.redis.url,
      mode: 'cluster',
      nodes: [`127.0.0.1:${second?.redis.port}`],
    },
    async stop() {
      await Promise.all(nodes.map(({ redis }) => redis.stop()));
      removeDir(dir);
    },
  };
}
