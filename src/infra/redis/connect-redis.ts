// How to connect to Redis: one server, the one that sentinels name, or a cluster.
import { readFileSync } from 'node:fs';
import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { backoffMs, type Backoff } from '../../lib/timers/backoff.ts';

export type RedisClient = Redis | Cluster;

export interface RedisTopology {
  /** The login, TLS by rediss://, and a server: the one, a sentinel, or a node of the cluster. */
  readonly url: string;
  /** Left out: single. */
  readonly mode?: 'single' | 'sentinel' | 'cluster';
  /** More sentinels or nodes, as host:port. */
  readonly nodes?: readonly string[];
  /** Of sentinels: what they call the server. */
  readonly masterName?: string | undefined;
  readonly sentinelPassword?: string | undefined;
  /** PEM files. */
  readonly tls?: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  };
}

const CONNECT_TIMEOUT_MS = 500;
const RECONNECT: Backoff = { firstMs: 50, lastMs: 2_000 };
/** Of a cluster that has just lost a node: who waits is a call in flight. */
const MOST_REDIRECTIONS = 3;
const REDIRECT_AFTER_MS = 50;
const DEFAULT_PORTS = { single: 6_379, sentinel: 26_379, cluster: 6_379 } as const;

const retryStrategy = (attempt: number) => backoffMs(RECONNECT, attempt, Math.random);

/** After a failover the server of before may still answer, and take nothing. */
const reconnectOnError = ({ message }: Error) => (message.startsWith('READONLY') ? 2 : false);

export function connectRedis(topology: RedisTopology, options: RedisOptions): RedisClient {
  const { url, mode = 'single' } = topology;
  const tls = tlsOf(topology);
  const common: RedisOptions = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy,
    reconnectOnError,
    ...(tls !== undefined && { tls }),
    ...options,
  };
  if (mode === 'single') return new Redis(url, common);
  return mode === 'sentinel' ? bySentinels(topology, common) : toCluster(topology, common);
}

function bySentinels(topology: RedisTopology, options: RedisOptions): Redis {
  const { masterName, sentinelPassword, url } = topology;
  return new Redis({
    ...options,
    ...loginOf(url),
    db: Number(new URL(url).pathname.slice(1) || 0),
    sentinels: addressesOf(topology),
    ...(masterName !== undefined && { name: masterName }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(options.tls !== undefined && { enableTLSForSentinelMode: true, sentinelTLS: options.tls }),
    sentinelRetryStrategy: retryStrategy,
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
  });
}

function toCluster(topology: RedisTopology, options: RedisOptions): Cluster {
  const { enableOfflineQueue = true, ...redisOptions } = options;
  const cluster: ClusterOptions = {
    redisOptions: { ...redisOptions, ...loginOf(topology.url) },
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
    maxRedirections: MOST_REDIRECTIONS,
    retryDelayOnFailover: REDIRECT_AFTER_MS,
    retryDelayOnClusterDown: REDIRECT_AFTER_MS,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS * 2,
    // A certificate names hosts, which a lookup beforehand would lose.
    ...(options.tls !== undefined && { dnsLookup: (address, done) => done(null, address) }),
  };
  return new Cluster([...addressesOf(topology)], cluster);
}

function loginOf(url: string): { username?: string; password?: string } {
  const { username, password } = new URL(url);
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
  };
}

function addressesOf({ url, nodes = [], mode = 'single' }: RedisTopology): { host: string; port: number }[] {
  return [new URL(url), ...nodes.map((node) => new URL(`redis://${node}`))].map(({ hostname, port }) => ({
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    port: Number(port || DEFAULT_PORTS[mode]),
  }));
}

function tlsOf({ url, tls = {} }: RedisTopology): NonNullable<RedisOptions['tls']> | undefined {
  if (!url.startsWith('rediss:')) return undefined;
  const read = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path));
  const [ca, cert, key] = [read(tls.ca), read(tls.cert), read(tls.key)];
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}
