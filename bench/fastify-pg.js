// Baseline of sql: a bare Fastify handler that does the same select by a prepared statement of pg.
import Fastify from 'fastify';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.argv[2], max: 10 });
const app = Fastify();
app.post('/item', async ({ body }) => {
  const { rows } = await pool.query({
    name: 'item',
    text: 'SELECT id, name FROM items WHERE id = $1',
    values: [body.id],
  });
  return { rows };
});
await app.listen({ port: 0, host: '127.0.0.1' });
process.send({ port: app.server.address().port });
process.on('SIGTERM', () => process.exit(0));
