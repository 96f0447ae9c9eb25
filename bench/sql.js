// What a select behind row-level security costs beside the same prepared select on a bare server.
import { startPostgres } from '../test/helpers/postgres.ts';
import { startChild, startGateway } from './children.js';
import { WARM_UP_SECONDS, compare, number, report } from './measure.js';
import { callOf, perSecond } from './rest-load.js';
import { READ_ONLY, toolsFile } from './tools-file.js';

export async function sql() {
  const postgres = await startPostgres(`
    CREATE ROLE agent LOGIN;
    CREATE TABLE items (id int PRIMARY KEY, tenant_id text NOT NULL, name text NOT NULL);
    INSERT INTO items SELECT n, 'bench', 'item ' || n FROM generate_series(1, 1000) n;
    ALTER TABLE items ENABLE ROW LEVEL SECURITY;
    ALTER TABLE items FORCE ROW LEVEL SECURITY;
    CREATE POLICY own_rows ON items USING (tenant_id = NULLIF(current_setting('app.tenant_id', true), ''));
    GRANT SELECT ON items TO agent;
  `);
  const file = toolsFile({
    connections: { store: { type: 'postgres', url: postgres.url('agent'), pool_size: 10 } },
    tools: [
      {
        name: 'item',
        description: 'One item',
        tool_type: 'sql',
        input_schema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
        implementation_config: {
          connection: 'store',
          statement: 'SELECT id, name FROM items WHERE id = {id}',
        },
        metadata: READ_ONLY,
      },
    ],
  });
  const bare = await startChild('fastify-pg.js', postgres.url());
  const gateway = await startGateway({ tools: file.path });
  const theirs = { url: `http://127.0.0.1:${bare.message.port}/item`, body: { id: 7 } };
  const ours = callOf(gateway, 'item', { id: 7 });
  for (const side of [theirs, ours]) await perSecond(side, WARM_UP_SECONDS);
  const { base, own, ratio } = await compare(
    () => perSecond(theirs),
    () => perSecond(ours),
  );
  await Promise.all([bare.stop(), gateway.stop()]);
  await postgres.stop();
  file.gone();
  report(
    'sql select behind row-level security, REST',
    `${number(own)} calls/s`,
    `${number(base)} calls/s (bare Fastify and pg, the same prepared select)`,
    `${number(ratio * 100)} %`,
    '≥ 50 %',
    ratio >= 0.5,
  );
}
