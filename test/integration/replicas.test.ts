// Three gateway processes and one limit: an upstream counts what reaches it while one of them is killed and started again.
import { createServer, type Server } from 'node:http';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { startRedis, type RedisServer } from '../helpers/redis.ts';
import { callTool, type Envelope } from '../helpers/rest-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const LIMIT = 7;
/** How long the clients call; UTE_TEST_REPLICAS_MS=60000 for a longer look. */
const RUN_MS = Number(process.env['UTE_TEST_REPLICAS_MS'] ?? 8_000);
const CLIENTS = 36;
const TENANTS = ['acme', 'umbrella', 'wayne'] as const;
/** A killed replica's places come back after this time. */
const LEASE_TTL_MS = 15_000;

let dir: string;
let redis: RedisServer;
let servers: LoopbackServers;
let upstream: Upstream;
let gateways: Gateway[];

beforeEach(async () => {
  dir = tempDir();
  // As root, the user of the embedded databases goes through it.
  chmodSync(dir, 0o711);
  redis = await startRedis();
  servers = new LoopbackServers();
  upstream = new Upstream();
  const origin = await servers.listen(upstream.server);
  const keys = TENANTS.map((tenant) => newKey(tenant));
  writeTools(origin);
  gateways = [0, 1, 2].map((index) => new Gateway(join(dir, `replica-${index}`), keys));
  await Promise.all(gateways.map((gateway) => gateway.start()));
});

afterEach(async () => {
  await Promise.all(gateways.map((gateway) => gateway.end()));
  await servers.close();
  await redis.stop();
  removeDir(dir);
});

describe('three replicas with one limit', () => {
  it(
    'never let more through together than it says, serve everybody, and survive the death of one',
    async () => {
      const until = Date.now() + RUN_MS;
      const clients = Array.from({ length: CLIENTS }, (_, index) => new Client(index));
      const runs = clients.map((client) => client.run(until));
      await pause(RUN_MS / 3);
      await gateways[0]?.kill();
      await pause(500);
      await gateways[0]?.start();
      await Promise.all(runs);
      expect(gateways.flatMap((gateway) => gateway.linesWith('limits are enforced by each replica'))).toEqual(
        [],
      );
      expect(upstream.most).toBeLessThanOrEqual(LIMIT);
      // One is dead with its places for most of the run; what is left of them was in use.
      expect(upstream.most).toBeGreaterThanOrEqual(LIMIT - 2);
      expect(clients.flatMap(({ failures }) => failures)).toEqual([]);
      expect(Math.min(...clients.map(({ answers }) => answers))).toBeGreaterThan(0);
      const shares = TENANTS.map((_, tenant) =>
        answersOf(clients.filter((client) => client.tenant === tenant)),
      );
      expect(Math.max(...shares) / Math.min(...shares)).toBeLessThan(2);
      await drained();
    },
    RUN_MS + LEASE_TTL_MS + 60_000,
  );
});

/** Nothing stays of it: neither places nor turns in a line. */
async function drained(): Promise<void> {
  const holders = async () => {
    const kinds = ['lease', 'turns', 'beats'].map((kind) => redis.client.keys(`ute:${kind}:*`));
    return (await Promise.all(kinds)).flat();
  };
  await expect.poll(holders, { timeout: LEASE_TTL_MS + 10_000, interval: 100 }).toEqual([]);
}

function answersOf(clients: readonly Client[]): number {
  return clients.reduce((sum, { answers }) => sum + answers, 0);
}

/** Counts the requests that are with it at the same time. */
class Upstream {
  most = 0;
  #inside = 0;
  readonly server: Server = createServer((_request, response) => {
    this.#inside += 1;
    this.most = Math.max(this.most, this.#inside);
    let isInside = true;
    const leave = () => {
      if (isInside) this.#inside -= 1;
      isInside = false;
    };
    // Also when the one who asked dies.
    response.once('close', leave);
    const answer = () => {
      leave();
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    };
    setTimeout(answer, 20 + Math.random() * 40);
  });
}

/** Calls one after the other; where a gateway is gone, it goes to the next. */
class Client {
  answers = 0;
  readonly failures: Envelope[] = [];
  readonly tenant: number;
  readonly #index: number;

  constructor(index: number) {
    this.#index = index;
    this.tenant = index % TENANTS.length;
  }

  async run(until: number): Promise<void> {
    for (let at = Math.floor(this.#index / TENANTS.length); Date.now() < until;) {
      const gateway = gateways[at % gateways.length] as Gateway;
      try {
        const { body } = await callTool(gateway.targetOf(this.tenant), 'counted');
        if (body.ok) this.answers += 1;
        else this.failures.push(body);
      } catch {
        at += 1;
        await pause(20);
      }
    }
  }
}

class Gateway {
  readonly #env: Record<string, string>;
  readonly #dir: string;
  readonly #keys: readonly NewKey[];
  #process: GatewayProcess | undefined;
  #url = '';

  constructor(own: string, keys: readonly NewKey[]) {
    mkdirSync(own);
    this.#dir = own;
    this.#keys = keys;
    this.#env = configured(own, {
      auth: { keys: keys.map(({ stored }) => stored) },
      loaders: [{ type: 'yaml-file', paths: [join(dir, 'tools.yaml')] }],
      // A machine that is busy with other tests answers late; this one is about limits while Redis is there.
      redis: { url: redis.url, command_timeout_ms: 5_000 },
      log: { level: 'info' },
    });
  }

  async start(): Promise<void> {
    this.#process = new GatewayProcess(this.#dir, this.#env);
    this.#url = (await this.#process.ready()).rest;
  }

  async kill(): Promise<void> {
    this.#process?.signal('SIGKILL');
    await this.#process?.exited;
  }

  async end(): Promise<void> {
    await this.#process?.end();
  }

  linesWith(text: string): readonly string[] {
    return this.#process?.stdout.split('\n').filter((line) => line.includes(text)) ?? [];
  }

  targetOf(tenant: number) {
    return { url: this.#url, key: this.#keys[tenant]?.text ?? '' };
  }
}

type NewKey = ReturnType<typeof newKey>;

function newKey(tenant: string) {
  const { text, id, secretHash } = createApiKey();
  return { text, stored: { id, secret_sha256: secretHash.toString('hex'), tenant, roles: ['agent'] } };
}

function writeTools(origin: string): void {
  const counted = {
    name: 'counted',
    description: 'Reaches the upstream that counts',
    tool_type: 'http',
    implementation_config: { connection: 'counting', method: 'GET', path: '/' },
    metadata: { category: 'retrieval' },
    timeout_ms: 30_000,
  };
  const counting = {
    type: 'http',
    base_url: origin,
    allow_private: ['127.0.0.0/8'],
    allow_ports: ['1-65535'],
    concurrency: { limit: LIMIT, max_queue: 1_000 },
  };
  writeFileSync(join(dir, 'tools.yaml'), stringify({ connections: { counting }, tools: [counted] }));
}
