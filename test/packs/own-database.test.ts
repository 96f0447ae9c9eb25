// The packs over SQL on a PostgreSQL elsewhere, set up as their READMEs say: another connection in place of their own.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { callTool } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const PACKS = ['memory', 'receptionist'];
const schemaOf = (pack: string) => readFileSync(resolve('packs', pack, 'schema.sql'), 'utf8');

let dir: string;
let postgres: Postgres;
let gateway: RunningGateway;

beforeAll(async () => {
  dir = tempDir();
  // Twice: an update runs it again.
  const schemas = [...PACKS, ...PACKS].map(schemaOf);
  postgres = await startPostgres(
    ["CREATE ROLE agent LOGIN PASSWORD 'x' NOSUPERUSER NOBYPASSRLS;", ...schemas].join('\n'),
  );
  const connections = { ours: { type: 'postgres', url: postgres.url('agent') } };
  writeFileSync(join(dir, 'tools.yaml'), stringify({ connections }));
  gateway = await startGateway({
    tools: [],
    settings: {
      loaders: [
        { type: 'yaml-file', paths: [join(dir, 'tools.yaml')] },
        ...PACKS.map((name) => ({ type: 'pack', name, connections: { [name]: 'ours' } })),
      ],
    },
    more: { agent: { tenant: 'acme', roles: ['agent'] } },
  });
});

afterAll(async () => {
  await gateway?.stop();
  await postgres?.stop();
  removeDir(dir);
});

it('the receptionist has what is in that database, and no demo', async () => {
  await postgres.sql("INSERT INTO businesses (id, name) VALUES ('acme', 'Acme')");
  await postgres.sql(
    "INSERT INTO policies (business_id, topic, content) VALUES ('acme', 'parking', 'None.')",
  );
  const { body } = await callTool(gateway.key('agent'), 'get_policies', { topic: 'parking' });
  expect(body).toMatchObject({ ok: true, data: { policies: [{ topic: 'parking', content: 'None.' }] } });
  expect(await postgres.sql("SELECT id FROM businesses WHERE id = 'default'")).toEqual([]);
});

it('a note is forgotten when its days are over, and makes room for another', async () => {
  const agent = gateway.key('agent');
  const search = async () => (await callTool(agent, 'search_memory', { query: 'passing' })).body.data;
  await callTool(agent, 'save_note', { content: 'A passing thought.', expires_in_days: 1 });
  expect(await search()).toMatchObject({ notes: [{ content: 'A passing thought.' }] });
  await postgres.sql("UPDATE notes SET expires_at = expires_at - interval '1 day'");
  expect(await search()).toMatchObject({ notes: [] });
  await callTool(agent, 'save_note', { content: 'Another.' });
  expect(await postgres.sql('SELECT content FROM notes')).toEqual([{ content: 'Another.' }]);
});
