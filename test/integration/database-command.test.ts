// `ute database export` and `import`: everything comes along, from any database into any other, or nothing does.
import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { SqlApprovalNotices } from '../../src/infra/approvals/sql-approval-notices.ts';
import { SqlApprovalStore } from '../../src/infra/approvals/sql-approval-store.ts';
import { uuidv7 } from '../../src/lib/ids.ts';
import { SqlAuditTable } from '../../src/infra/audit/audit-table.ts';
import { auditLine } from '../../src/infra/audit/audit-line.ts';
import { GatewayDatabase } from '../../src/infra/postgres/gateway-database.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { auditRecord, intentRecord } from '../helpers/audit-kit.ts';
import { embeddedServer } from '../helpers/embedded-postgres.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { quietLog } from '../helpers/quiet-log.ts';

/** What a text of COPY has to escape, and what JSON has. */
const AWKWARD = 'tab\t newline\n back\\slash \\N "quoted" ünïcode \u{1F600}';
const ROWS = 5_000;
/** Calls that have begun. */
const OPEN = 100;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-move-'));
  // As root, the user of the embedded database goes through it.
  chmodSync(dir, 0o711);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function ute(argv: readonly string[], env: Readonly<Record<string, string>>) {
  let [stdout, stderr] = ['', ''];
  const code = await run(argv, {
    stdout: (chunk) => void (stdout += chunk),
    stderr: (chunk) => void (stderr += chunk),
    readStdin: () => Promise.resolve(''),
    fetch,
    env: { ...env },
    cwd: dir,
  });
  return { code, stdout, stderr };
}

/** Opens the embedded database of a folder for as long as `work` takes. */
async function inDatabase<T>(dataDir: string, work: (database: GatewayDatabase) => Promise<T>): Promise<T> {
  const { server } = embeddedServer(dataDir);
  const settings = { kind: 'embedded', server, poolSize: 2, migrate: true } as const;
  const database = new GatewayDatabase(settings, { clock: new SystemClock(), log: quietLog });
  try {
    return await work(database);
  } finally {
    await database.close();
    await server.stop();
  }
}

const askApproval = ({ db }: GatewayDatabase) =>
  new SqlApprovalStore({ db }, { maxPending: 10 }).create({
    id: uuidv7(Date.now()),
    tenantId: 'acme',
    tool: 'act',
    toolVersion: '1.0.0',
    toolHash: '',
    argumentsHash: '',
    arguments: { awkward: AWKWARD },
    riskLevel: 'high',
    requestedBy: 'key',
    requestedByUser: '',
    agentId: '',
    userId: '',
    sessionId: '',
    createdAt: Date.now(),
    expiresAt: Date.now() + 600_000,
    quorum: 1,
    approverGroups: [],
    tokenHash: randomUUID(),
  });
const eventsIn = ({ db }: GatewayDatabase) => new SqlApprovalNotices({ db }, [], 1_000).events('acme', 0, 10);

const fill = (dataDir: string) =>
  inDatabase(dataDir, async (database) => {
    const table = new SqlAuditTable(database, 'owner');
    const lines = Array.from({ length: ROWS }, (_, n) =>
      auditLine(
        auditRecord({ callId: `c${n}`, tenant: 'acme', callKind: 'sync', notes: { awkward: AWKWARD } }),
      ),
    );
    const intents = Array.from({ length: OPEN }, (_, n) =>
      auditLine(intentRecord({ callId: `open${n}`, tenant: 'acme', notes: { awkward: AWKWARD } })),
    );
    await table.store(Buffer.from([...lines, ...intents].join('')));
    await askApproval(database);
  });

const rowsOf = async ({ db }: GatewayDatabase) => [
  (await sql`SELECT * FROM audit_trail ORDER BY seq`.execute(db)).rows,
  (await sql`SELECT * FROM audit_chains`.execute(db)).rows,
  await db.selectFrom('calls').selectAll().orderBy('id').execute(),
];

it('moves every row of an embedded database into another one, and into a PostgreSQL elsewhere', async () => {
  const [from, to, folder] = [join(dir, 'from'), join(dir, 'to'), join(dir, 'export')];
  await fill(from);
  const before = await inDatabase(from, rowsOf);
  expect(before.map((rows) => rows.length)).toEqual([ROWS + OPEN, 1, OPEN]);
  const exported = await ute(['database', 'export', folder], { UTE_DATA_DIR: from });
  expect(exported).toMatchObject({ code: 0, stderr: '' });
  expect(exported.stdout).toContain(`audit_trail: ${ROWS + OPEN} rows\n`);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(await ute(['database', 'import', folder], { UTE_DATA_DIR: to })).toMatchObject({
    code: 0,
    stderr: '',
  });
  const [moved, events] = await inDatabase(to, async (database) => {
    const rows = await rowsOf(database);
    // What is numbered goes on behind what was brought.
    await askApproval(database);
    return [rows, await eventsIn(database)] as const;
  });
  expect(moved).toEqual(before);
  expect(events.map(({ kind }) => kind)).toEqual(['asked', 'asked']);
  const elsewhere = await startPostgres();
  try {
    const env = { UTE_DATABASE_URL: elsewhere.url() };
    expect(await ute(['database', 'import', folder], env)).toMatchObject({ code: 0, stderr: '' });
    const [{ n } = { n: 0 }] = await elsewhere.sql('SELECT count(*)::int AS n FROM audit_trail');
    expect(n).toBe(ROWS + OPEN);
    // Once: what is there already is not mixed with it.
    expect(await ute(['database', 'import', folder], env)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the database holds records already/) as string,
    });
  } finally {
    await elsewhere.stop();
  }
});

it('refuses what is not as it was exported, and then leaves nothing behind', async () => {
  const [from, to, folder] = [join(dir, 'from'), join(dir, 'to'), join(dir, 'export')];
  await fill(from);
  await ute(['database', 'export', folder], { UTE_DATA_DIR: from });
  const refused = async (message: RegExp) => {
    const { code, stderr } = await ute(['database', 'import', folder], { UTE_DATA_DIR: to });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) as string });
  };
  const file = join(folder, 'calls.copy');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('acme', 'acmf'));
  await refused(/calls\.copy is not what was exported: its checksum differs/);
  // One row short, and a manifest that was made to fit.
  const short = text.slice(text.indexOf('\n') + 1);
  writeFileSync(file, short);
  const manifest = join(folder, 'manifest.json');
  const said = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, said.replace(sha256(text), sha256(short)));
  await refused(/calls\.copy holds 99 rows, and its manifest says 100/);
  expect(await inDatabase(to, rowsOf)).toEqual([[], [], []]);
  writeFileSync(manifest, said.replace('"0001-calls"', '"0001-calls", "9999-of-the-future"'));
  await refused(/was exported by unified-tool-executor .*, whose schema is newer/);
  rmSync(manifest);
  await refused(/is no whole export: it has no manifest\.json/);
  expect(await ute(['database', 'export', folder], { UTE_DATA_DIR: from })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/is not empty: name a new folder/) as string,
  });
});

it('where there is no database, none is made and exported: that would be taken for a backup', async () => {
  const nothing = join(dir, 'nothing');
  expect(await ute(['database', 'export', join(dir, 'export')], { UTE_DATA_DIR: nothing })).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/no embedded database in .*nothing, .*run it in the folder of the gateway/),
  });
  expect(readdirSync(dir)).toEqual([]);
});

it('does not open the embedded database of a gateway that runs', async () => {
  const from = join(dir, 'from');
  await inDatabase(from, async (database) => {
    await database.openNow();
    expect(await ute(['database', 'export', join(dir, 'export')], { UTE_DATA_DIR: from })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is in use by process \d+: stop it/) as string,
    });
  });
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
