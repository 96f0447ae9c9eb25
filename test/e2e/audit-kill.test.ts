// kill -9 in the middle of a call that changes something: on record it has begun, and it ends once, as unknown.
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GatewayDatabase } from '../../src/infra/postgres/gateway-database.ts';
import { tellAlive } from '../../src/infra/maintenance/gateway-beats.ts';
import { reconcileCalls } from '../../src/infra/calls/reconcile-calls.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { quietLog } from '../helpers/quiet-log.ts';
import { callTool, request } from '../helpers/rest-client.ts';
import { removeDir } from '../helpers/temp-tools.ts';

const POLL = { timeout: 20_000, interval: 20 };
const HOLD = `import { existsSync, writeFileSync } from 'node:fs';
export async function execute({ file }, context) {
  writeFileSync(file + '.entered', '');
  while (!context.signal.aborted && !existsSync(file)) await new Promise((done) => setTimeout(done, 10));
  return 'let go';
}
`;
const TOOLS = `tools:
  - name: hold
    description: Changes something, slowly
    tool_type: javascript
    timeout_ms: 2000
    input_schema: { type: object, properties: { file: { type: string } }, required: [file] }
    implementation_config: { handler: ./hold.mjs, trusted: true }
`;

let dir: string;
const started: GatewayProcess[] = [];

function start(settings: Record<string, unknown>): GatewayProcess {
  const loaders = [{ type: 'yaml-file', paths: [join(dir, 'tools.yaml')] }];
  const gateway = new GatewayProcess(dir, configured(dir, { loaders, ...settings }));
  started.push(gateway);
  return gateway;
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-kill-'));
  writeFileSync(join(dir, 'hold.mjs'), HOLD);
  writeFileSync(join(dir, 'tools.yaml'), TOOLS);
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((gateway) => gateway.end()));
  removeDir(dir);
});

/** Kills a gateway while its call is inside of the tool. Gives the key that works in the next one too. */
async function killedInTheTool(settings: Record<string, unknown>): Promise<string> {
  const gateway = start(settings);
  const { rest } = await gateway.ready();
  const [key = ''] = /ute_live_\w+_[\w-]+_[0-9a-f]{8}/.exec(gateway.stderr) ?? [];
  const file = join(dir, 'go');
  const call = callTool({ url: rest, key }, 'hold', { file }).catch(() => undefined);
  await expect.poll(() => existsSync(`${file}.entered`), POLL).toBe(true);
  gateway.signal('SIGKILL');
  await gateway.exited;
  await call;
  return key;
}

interface Page {
  readonly calls: readonly { readonly id: string; readonly status: string; readonly reason: string | null }[];
}

describe('a gateway on PostgreSQL that is killed', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.stop());

  it('leaves the intent, which becomes one unknown outcome, and a human can end it', async () => {
    const settings = { database: { url: postgres.url() } };
    const key = await killedInTheTool(settings);
    const rows = () => postgres.sql('SELECT id, status, error_type, finished_at FROM calls');
    expect(await rows()).toMatchObject([{ status: 'running', finished_at: null }]);

    const database = {
      kind: 'postgres',
      url: postgres.url(),
      poolSize: 2,
      ssl: 'disable',
      migrate: false,
    } as const;
    const replicas = [1, 2].map(
      () => new GatewayDatabase(database, { clock: new SystemClock(), log: quietLog }),
    );
    const ended: unknown[] = [];
    const look = async () => {
      const found = replicas.map(async (database) => {
        await tellAlive(database, 'own', 0);
        return reconcileCalls(database, { gateway: 'own', leaseMs: 0 });
      });
      ended.push(...(await Promise.all(found)).flat());
      return ended.length;
    };
    await expect.poll(look, POLL).toBe(1);
    await look();
    expect(ended).toHaveLength(1);
    await Promise.all(replicas.map((database) => database.close()));
    expect(await rows()).toMatchObject([{ status: 'outcome_unknown', error_type: 'OUTCOME_UNKNOWN' }]);

    const { rest } = await start(settings).ready();
    const target = { url: rest, key };
    const { body } = await request<Page>(target, 'GET', '/v1/calls?status=outcome_unknown');
    expect(body.calls).toMatchObject([{ status: 'outcome_unknown', reason: 'OWNER_LOST' }]);
    const path = `/v1/calls/${body.calls[0]?.id ?? ''}/resolve`;
    const resolved = await request(target, 'POST', path, {
      outcome: 'failed',
      comment: 'not in the bank statement',
    });
    expect(resolved).toMatchObject({ status: 200, body: { status: 'failed', reason: 'RESOLVED' } });
    // Whoever looks has chained what was recorded.
    await request(target, 'GET', '/v1/audit');
    const kinds = await postgres.sql('SELECT kind FROM audit_trail ORDER BY seq');
    expect(kinds.map(({ kind }) => kind)).toEqual(['intent', 'reconciled', 'resolution']);
  });
});

describe('an embedded gateway that is killed', () => {
  it('finds the intent on its disk at the next start', async () => {
    const key = await killedInTheTool({});
    const { rest } = await start({}).ready();
    const { body } = await request<Page>({ url: rest, key }, 'GET', '/v1/calls');
    expect(body.calls).toMatchObject([{ status: 'running' }]);
  });
});
