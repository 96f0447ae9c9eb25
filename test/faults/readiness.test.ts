// What /readyz, gRPC health and a gauge tell while the database, Redis or the disk of the journal is away, with nobody calling.
import { promisify } from 'node:util';
import { credentials, makeGenericClientConstructor } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { degraded, FaultBench, type Replica } from '../helpers/fault-bench.ts';
import { callTool } from '../helpers/rest-client.ts';

const SOON = { timeout: 20_000, interval: 20 };
/** The smallest there is: some thousand records. */
const BACKLOG = 1 << 20;

let bench: FaultBench;
let one: Replica;

beforeAll(async () => {
  bench = await FaultBench.start();
  one = await bench.gateway('one');
});
afterAll(() => bench?.stop());

interface Readiness {
  readonly code: number;
  readonly status: string;
  readonly reason?: string;
  readonly degraded?: Readonly<Record<string, string>>;
}

async function readiness({ url }: Replica): Promise<Readiness> {
  const response = await fetch(`${url}/readyz`);
  return { code: response.status, ...((await response.json()) as Omit<Readiness, 'code'>) };
}

async function reasonsOf(replica: Replica, calls: number): Promise<readonly (string | undefined)[]> {
  const answers = await Promise.all(Array.from({ length: calls }, () => callTool(replica, 'look')));
  return answers.map(({ body }) => body.error?.reason);
}

const HealthClient = makeGenericClientConstructor(healthService, 'Health');

/** What grpc.health.v1 answers. */
async function grpcHealth({ process }: Replica): Promise<string> {
  const client = new HealthClient((await process.ready()).grpc, credentials.createInsecure());
  try {
    const check = client['check'] as (
      request: object,
      done: (error: unknown, answer: unknown) => void,
    ) => void;
    const answer = (await promisify(check.bind(client))({ service: '' })) as { readonly status: string };
    return answer.status;
  } finally {
    client.close();
  }
}

/** Nothing is left out: what is not degraded is not told. */
async function isWell(replica: Replica): Promise<void> {
  await expect.poll(() => readiness(replica), SOON).toMatchObject({ code: 200, status: 'ok' });
  expect((await readiness(replica)).degraded).toBeUndefined();
  await expect.poll(() => degraded(replica), SOON).toEqual([]);
}

/** What is read from the database by the clock, and is told of where that is away for longer. */
const FOLLOWED = new Set(['api_keys', 'agents', 'assignments']);

async function degradedBut(replica: Replica): Promise<readonly string[]> {
  return (await degraded(replica)).filter((component) => !FOLLOWED.has(component));
}

interface Fault {
  readonly how: string;
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

const FAULTS: readonly Fault[] = [
  { how: 'killed', begin: () => bench.postgres.kill(), end: () => bench.postgres.restart() },
  {
    how: 'a black hole',
    begin: async () => bench.postgresLine.setMode({ kind: 'blackhole' }),
    end: async () => bench.postgresLine.setMode({ kind: 'pass' }),
  },
];

describe('while the database is away the gateway is ready, and says that it is degraded', () => {
  it.each(FAULTS)('$how', async ({ begin, end }) => {
    await isWell(one);
    await begin();
    try {
      await expect
        .poll(() => readiness(one), SOON)
        .toMatchObject({
          code: 200,
          status: 'degraded',
          degraded: { database: expect.stringMatching(/^the database is away: .* until it is back$/) },
        });
      expect(await degradedBut(one)).toEqual(['database']);
      expect((await callTool(one, 'look')).body).toMatchObject({ ok: true });
    } finally {
      await end();
    }
    await isWell(one);
  });
});

it('one connection that is cut is no database that is away', async () => {
  await isWell(one);
  const before = one.process.stdout.length;
  for (let times = 0; times < 3; times += 1) bench.postgresLine.cut();
  expect(await bench.unrecovered()).toEqual([]);
  const said = one.process.stdout.slice(before).includes('the database is away');
  expect(said).toBe(false);
});

it('while Redis is away the gateway is ready, and says that limits are degraded', async () => {
  await isWell(one);
  await bench.redis.kill();
  await expect
    .poll(() => readiness(one), SOON)
    .toMatchObject({
      code: 200,
      status: 'degraded',
      degraded: { admission: expect.stringMatching(/^Redis is unreachable: /) },
    });
  expect(await degraded(one)).toEqual(['admission']);
  await bench.redis.restart();
  await isWell(one);
});

it('a gateway whose journal takes no more records is not ready, by REST and by gRPC, until it does again', async () => {
  const small = await bench.gateway('small', { settings: { limits: { max_audit_backlog_bytes: BACKLOG } } });
  await isWell(small);
  expect(await grpcHealth(small)).toBe('SERVING');
  bench.postgresLine.setMode({ kind: 'cut' });
  await expect.poll(() => reasonsOf(small, 64), SOON).toContain('AUDIT_UNAVAILABLE');
  expect(await readiness(small)).toMatchObject({
    code: 503,
    status: 'unavailable',
    reason: expect.stringMatching(/^the audit journal takes no records: /),
  });
  await expect.poll(() => degradedBut(small), SOON).toEqual(['database', 'audit']);
  await expect.poll(() => grpcHealth(small), SOON).toBe('NOT_SERVING');
  bench.postgresLine.setMode({ kind: 'pass' });
  await isWell(small);
  await expect.poll(() => grpcHealth(small), SOON).toBe('SERVING');
  await bench.end(small);
});
