// Rows of calls that records tell of, by a real PostgreSQL: whatever a piece holds, they are of those calls that have begun and not ended.
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { auditLine } from '../../src/infra/audit/audit-line.ts';
import { AuditChain } from '../../src/infra/audit/chain/audit-chain.ts';
import { storeCalls } from '../../src/infra/audit/chain/call-rows.ts';
import { ownLines } from '../../src/infra/audit/chain/own-lines.ts';
import type { Database } from '../../src/infra/postgres/database.ts';
import { uuidv7 } from '../../src/lib/ids.ts';
import { auditRecord, intentRecord } from '../helpers/audit-kit.ts';
import { postgresDatabase, type SharedTestDatabase } from '../helpers/databases.ts';

let there: SharedTestDatabase;
let database: Database;
let tenants = 0;
let tenant: string;

beforeAll(async () => {
  there = await postgresDatabase();
  database = await there.database.opened();
});
afterAll(() => there?.end());
beforeEach(() => (tenant = `calls-${(tenants += 1)}`));

const ids = (count: number) => Array.from({ length: count }, () => uuidv7(Date.now()));
const intent = (callId: string) => auditLine(intentRecord({ tenant, callId }));
const end = (callId: string) => auditLine(auditRecord({ tenant, callId }));

async function running(): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`SELECT id FROM calls WHERE tenant_id = ${tenant}
    AND status = 'running' AND owner = 'gateway-1'`.execute(database.db);
  return rows.map(({ id }) => id).toSorted();
}

const store = (lines: readonly string[]) =>
  database.db
    .transaction()
    .execute((trx) => storeCalls(trx, ownLines(Buffer.from(lines.join(''))), 'gateway-1'));

it('of more lines than one statement takes, in any order: calls that have begun and not ended', async () => {
  const [whole, early, open, ended] = [ids(400), ids(300), ids(700), ids(600)];
  await store([...ended, ...early].map(intent));
  expect(await running()).toEqual([...ended, ...early].toSorted());
  await store([
    ...whole.map(intent),
    ...early.map(end),
    ...open.map(intent),
    ...ended.map(end),
    ...whole.map(end),
  ]);
  expect(await running()).toEqual(open.toSorted());
});

it('an end that stands before its intent, and an intent that comes twice, are of one call', async () => {
  const [ended = '', open = ''] = ids(2);
  await store([end(ended), intent(ended), intent(open), intent(open)]);
  await store([intent(open)]);
  expect(await running()).toEqual([open]);
});

it('a call without an intent has no row, and asks for none', async () => {
  const [callId = ''] = ids(1);
  await store([auditLine(auditRecord({ tenant, callId, intended: false }))]);
  expect(await running()).toEqual([]);
});

it('what is noted of a call is no kind of its record', async () => {
  const [callId = ''] = ids(1);
  const notes = { a: 1, intended: true, kind: 'intent' };
  await store([
    intent(callId),
    auditLine(auditRecord({ tenant, callId: ids(1)[0] ?? '', intended: false, notes })),
  ]);
  expect(await running()).toEqual([callId]);
});

it('the same where the records are chained', async () => {
  const [ended = '', open = ''] = ids(2);
  const chain = new AuditChain(database);
  await chain.append(ownLines(Buffer.from([intent(ended), intent(open), end(ended)].join(''))), {
    fresh: true,
    ofCalls: { gateway: 'gateway-1' },
  });
  expect(await running()).toEqual([open]);
});
