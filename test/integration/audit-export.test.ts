// A real export of a running gateway, checked offline: whole as it is, and each kind of tampering with it is named.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { CheckpointFile } from '../../src/infra/audit/checkpoints/checkpoint-file.ts';
import { Checkpoints } from '../../src/infra/audit/checkpoints/checkpoints.ts';
import { openSigningKey } from '../../src/infra/audit/checkpoints/signing-key.ts';
import { recordingMetrics } from '../helpers/call-kit.ts';
import { quietLog } from '../helpers/quiet-log.ts';
import { callTool, request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;
let dir: string;
let whole: string[];
let numbers = 0;

beforeAll(async () => {
  gateway = await startGateway({ tools: ['test/fixtures/audit/tools.yaml'] });
  const agent = targetOf(gateway, 'agent');
  for (let n = 0; n < 8; n += 1) await callTool(agent, n % 2 === 0 ? 'look' : 'change', { n });
  await callTool(targetOf(gateway, 'other'), 'look', { n: 1 });
  await request(agent, 'POST', '/v1/tools/look/execute', {
    arguments: { n: 1 },
    context: { user_id: 'ann', session_id: 's-1' },
  });
  dir = join(gateway.dir, 'exports');
  mkdirSync(dir);
  await exported('whole.jsonl');
  whole = linesOf('whole.jsonl');
  await makeCheckpoints();
});
afterAll(() => gateway?.stop());

/** As the gateway does each minute, with its own key and file. */
async function makeCheckpoints(): Promise<void> {
  const checkpoints = new Checkpoints({
    database: await gateway.service.infra.database.opened(),
    key: await openSigningKey(data('audit-checkpoints.key'), true, quietLog),
    sink: new CheckpointFile(data('audit-checkpoints.jsonl')),
    made: recordingMetrics().counter({ name: 'made', help: '' }).with(),
  });
  await checkpoints.make(true);
}

const file = (name: string) => join(dir, name);
const linesOf = (name: string) => readFileSync(file(name), 'utf8').trimEnd().split('\n');
const data = (name: string) => join(gateway.dir, 'data', name);
const checkpointFile = () => readFileSync(data('audit-checkpoints.jsonl'), 'utf8');

async function ute(...argv: readonly string[]) {
  let [stdout, stderr] = ['', ''];
  const env = { UTE_URL: gateway.url, UTE_API_KEY: gateway.keys.admin.text };
  const io = {
    stdout: (text: string) => void (stdout += text),
    stderr: (text: string) => void (stderr += text),
    readStdin: () => Promise.resolve(''),
    fetch,
    env,
    cwd: dir,
  };
  return { code: await run(['audit', ...argv], io), stdout, stderr };
}

const exported = (name: string) => ute('export', name);

async function verified(lines: readonly string[], checkpoints = checkpointFile()) {
  const name = `case-${(numbers += 1)}.jsonl`;
  writeFileSync(file(name), lines.map((line) => `${line}\n`).join(''));
  writeFileSync(file(`${name}.checkpoints`), checkpoints);
  const key = data('audit-checkpoints.key.pub');
  const args = ['verify', name, '--checkpoints', `${name}.checkpoints`, '--public-key', key];
  return ute(...args);
}

it('is not said to be whole where checkpoints were given, and none is of a record of it', async () => {
  const { code, stdout } = await verified(whole, '');
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/^not held to any checkpoint: 13 records.*\nnote: no record was held/s),
  ]);
});

it('is whole as it is, page by page, with the checkpoints of the file beside the database', async () => {
  expect(whole).toHaveLength(8 + 4 + 1);
  const { code, stdout } = await verified(whole);
  expect(stdout).toMatch(
    /^whole: 13 records of "acme", 1 to 13; \d+ checkpoints hold; last hash [0-9a-f]{64}\n$/,
  );
  expect(code).toBe(0);
  const target = targetOf(gateway);
  const page = async (after: number) => {
    const query = `/v1/audit/export?page_size=5&after_seq=${after}`;
    const response = await fetch(`${target.url}${query}`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    expect(response.headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
    return response.text();
  };
  expect((await Promise.all([0, 5, 10, 13].map(page))).join('')).toBe(`${whole.join('\n')}\n`);
});

it('keeps the signing key to the gateway, and gives its public half', () => {
  expect(statSync(data('audit-checkpoints.key')).mode & 0o777).toBe(0o600);
  expect(readFileSync(data('audit-checkpoints.key.pub'), 'utf8')).toContain('BEGIN PUBLIC KEY');
});

it('holds one tenant alone, and no other credential gets it', async () => {
  expect(whole.every((line) => line.endsWith('"tenant":"acme"}'))).toBe(true);
  expect((await request(targetOf(gateway, 'agent'), 'GET', '/v1/audit/export')).status).toBe(403);
  for (const query of ['after_seq=-1', 'after_seq=x', 'page_size=0', 'after_seq=99999999999999999'])
    expect((await request(targetOf(gateway), 'GET', `/v1/audit/export?${query}`)).status).toBe(400);
});

it('finds records by the user and the session, too', async () => {
  const found = async (query: string) => {
    const { body } = await request<{ records: { user_id: string; seq: number; hash: string }[] }>(
      targetOf(gateway), 'GET', `/v1/audit?${query}`); // oxfmt-ignore
    return body.records;
  };
  expect(await found('user_id=ann')).toMatchObject([{ user_id: 'ann', seq: 13 }]);
  expect(await found('session_id=s-1&user_id=ann&agent_id=nobody')).toEqual([]);
});

it('is looked through on the command line, as a table and as JSON', async () => {
  const all = await ute('list', '--limit', '500');
  expect(all.stdout).toMatch(/^SEQ +AT +KIND +BY +USER +WHAT +OUTCOME +REASON\n/);
  expect(all.stdout).toMatch(/\n13 +\S+ +outcome +\S+ +ann +look +ok/);
  const changes = await ute('list', '--tool', 'change', '--kind', 'outcome', '--json');
  expect(JSON.parse(changes.stdout)).toHaveLength(4);
  const found = async (...filter: readonly string[]) => {
    const { code, stdout, stderr } = await ute('list', '--json', ...filter);
    const tools = (JSON.parse(stdout) as { tool: string }[]).map(({ tool }) => tool);
    return { code, tools, stderr };
  };
  expect(await found('--user', 'ann', '--session', 's-1')).toEqual({ code: 0, tools: ['look'], stderr: '' });
  expect(await found('--from', '2099-01-01T00:00:00Z')).toMatchObject({ tools: [] });
  expect(await found('--to', '2000-01-01T00:00:00Z')).toMatchObject({ tools: [] });
  expect(await found('--call', 'no-such-call')).toMatchObject({ tools: [] });
  expect(await found('--limit', '1', '--outcome', 'ok')).toMatchObject({
    tools: ['look'],
    stderr: 'these are the newest 1; --limit shows more\n',
  });
  expect(await ute('list', '--kind', 'nonsense')).toMatchObject({ code: 2 });
  expect(await ute('list', '--from', 'soon')).toMatchObject({ code: 3 });
});

describe('tampering with it is named', () => {
  const named = async (lines: readonly string[], checkpoints?: string) => {
    const { code, stdout } = await verified(lines, checkpoints);
    return `${code} ${/^[a-z ]+: record \d+/.exec(stdout)?.[0] ?? stdout}`;
  };
  const changed = (at: number, from: string | RegExp, to: string) =>
    whole.map((line, index) => (index === at - 1 ? line.replace(from, to) : line));

  it('altered', async () => {
    expect(await named(changed(3, '"kind":"', '"kind":"x'))).toBe('1 altered: record 3');
    expect(await named(changed(13, 'ann', 'bob'))).toBe('1 altered: record 13');
  });

  it('missing', async () => {
    expect(await named(whole.toSpliced(4, 2))).toBe('1 missing: record 5');
    expect(await named(whole.slice(1))).toBe('1 missing: record 1');
  });

  it('reordered', async () => {
    expect(await named([...whole.slice(0, 4), ...whole.slice(4, 6).toReversed(), ...whole.slice(6)])).toBe(
      '1 reordered: record 5',
    );
  });

  it('truncated tail', async () => {
    expect(await named(whole.slice(0, -2))).toBe('1 truncated tail: record 12');
  });

  it('bad signature', async () => {
    expect(await named(whole, checkpointFile().replace('"tenant":"acme"', '"tenant":"other"'))).toMatch(
      /^1 bad signature: record \d+$/,
    );
  });

  it('forked, where the database was written anew from a record on and every hash was made to fit', async () => {
    // Whoever has the owner's rights, that is, or the disk.
    const { owner: db } = await gateway.service.infra.database.opened();
    const before = await sql<{
      hash: string;
      outcome: string;
    }>`SELECT encode(hash, 'hex') AS hash, outcome FROM audit_trail
      WHERE tenant_id = 'acme' AND seq = 13`.execute(db);
    await sql`UPDATE audit_trail SET outcome = 'forged' WHERE tenant_id = 'acme' AND seq = 13`.execute(db);
    await exported('altered.jsonl');
    expect(await named(linesOf('altered.jsonl'))).toBe('1 altered: record 13');
    // An insider hashes it anew, as the program would.
    const { chainHash } = await import('../../src/lib/audit-chain/chained-record.ts');
    const { readExportLine } = await import('../../src/lib/audit-chain/export-line.ts');
    const line = readExportLine(linesOf('altered.jsonl').at(-1) ?? '');
    if (line === undefined) throw new Error('the export cannot be read');
    const hash = chainHash(line.record, line.place);
    expect(hash).not.toBe(before.rows[0]?.hash);
    await sql`UPDATE audit_trail SET hash = decode(${hash}, 'hex') WHERE tenant_id = 'acme' AND seq = 13`.execute(
      db,
    );
    await exported('forked.jsonl');
    expect(await named(linesOf('forked.jsonl'))).toBe('1 forked: record 13');
    const { hash: own = '', outcome = '' } = before.rows[0] ?? {};
    await sql`UPDATE audit_trail SET hash = decode(${own}, 'hex'), outcome = ${outcome}
      WHERE tenant_id = 'acme' AND seq = 13`.execute(db);
  });
});

it('says in a sentence what it cannot do', async () => {
  expect(await ute('verify', 'nothing.jsonl')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('cannot be read') as string,
  });
  expect(await ute('verify', 'whole.jsonl', '--checkpoints', 'x')).toMatchObject({ code: 2 });
  expect(await ute('verify', 'whole.jsonl', '--public-key', 'whole.jsonl')).toMatchObject({ code: 2 });
  expect(await exported('whole.jsonl')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('cannot be made') as string,
  });
});

describe('a user who is erased', () => {
  const call = (key: 'agent' | 'other', user: string) =>
    request(targetOf(gateway, key), 'POST', '/v1/tools/change/execute', {
      arguments: { n: 1 },
      context: { user_id: user, session_id: `of-${user}` },
    });
  const all = async (name: string) => {
    expect(await exported(name)).toMatchObject({ code: 0 });
    return readFileSync(file(name), 'utf8');
  };

  it('is gone from records and calls, and the chain is whole and says so', async () => {
    for (const [key, user] of [['agent', 'zoe'], ['agent', 'zoe'], ['agent', 'joe'], ['other', 'zoe']] as const)
      await call(key, user); // oxfmt-ignore
    expect(await all('before.jsonl')).toContain('zoe');
    const { code, stdout } = await ute('erase', '--user', 'zoe');
    expect(stdout).toBe(
      'erased: 4 records, 0 calls, 0 approvals, 0 sessions, 0 schedules, 0 keys, 0 delegations, 0 accounts\n',
    );
    expect(code).toBe(0);
    const after = await all('after.jsonl');
    expect(after).not.toContain('zoe');
    expect(after).toContain('"user_id":"joe"');
    const told = await ute('verify', 'after.jsonl');
    expect(told).toMatchObject({ code: 0 });
    expect(told.stdout).toContain('note: the personal data of 4 records was erased, as the chain says');
    expect((await ute('erase', '--user', 'zoe')).stdout).toContain('erased: 0 records');
    const { rows } =
      await sql`SELECT 1 FROM audit_trail WHERE user_id = 'zoe' AND tenant_id <> 'acme'`.execute(
        gateway.service.infra.database.db,
      );
    expect(rows).toHaveLength(2);
  });

  it('is recorded, with who asked for it and not for whom', async () => {
    const { body } = await request<{ records: { kind: string; principal_id: string; notes: object | null }[] }>(
      targetOf(gateway), 'GET', '/v1/audit?page_size=20'); // oxfmt-ignore
    const of = (kind: string) => body.records.filter((each) => each.kind === kind);
    expect(of('erasure')).toMatchObject([
      { notes: { erased: expect.stringMatching(/^\d+-\d+$/) as string } },
    ]);
    expect(of('management')[0]).toMatchObject({ notes: { action: 'audit.erase', target: '' } });
    expect(of('erasure')[0]?.principal_id).toBe(of('management')[0]?.principal_id);
  });

  it('whose data somebody took away by SQL is damage', async () => {
    const { owner } = await gateway.service.infra.database.opened();
    await sql`UPDATE audit_trail SET user_id = NULL, session_id = NULL, personal_salt = NULL
      WHERE tenant_id = 'acme' AND user_id = 'joe'`.execute(owner);
    await all('taken.jsonl');
    const { code, stdout } = await ute('verify', 'taken.jsonl');
    expect(`${code} ${stdout}`).toMatch(
      /^1 altered: record \d+: its personal data is gone, and no record behind it/,
    );
  });

  it('may be nobody, and has to be named', async () => {
    for (const body of [{}, { user_id: '' }, { user_id: 'a\0b' }, { user_id: 'x', tenant: 'other' }])
      expect((await request(targetOf(gateway), 'POST', '/v1/audit/erasures', body)).status).toBe(400);
    expect(
      (await request(targetOf(gateway, 'agent'), 'POST', '/v1/audit/erasures', { user_id: 'joe' })).status,
    ).toBe(403);
  });
});
