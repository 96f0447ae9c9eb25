// The login that adds the gateway's records on the embedded server: no superuser, and not the owner of the tables.
import { randomBytes } from 'node:crypto';
import { Client, escapeIdentifier, escapeLiteral, type PoolConfig } from 'pg';

export const WRITER = 'ute_writer';

/** Given anew by each process, and told to nobody. */
const PASSWORD = randomBytes(24).toString('base64url');

/** Makes it where it is missing. `server`: how the superuser connects. How the writer does. */
export async function writerLogin(server: PoolConfig): Promise<PoolConfig> {
  const client = new Client(server);
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [WRITER]);
    const verb = rowCount === 0 ? 'CREATE' : 'ALTER';
    const attributes = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';
    await client.query(`${verb} ROLE ${WRITER} ${attributes} PASSWORD ${escapeLiteral(PASSWORD)}`);
    // What tools take up leaves the gateway its own connections.
    await client.query(`GRANT pg_use_reserved_connections TO ${WRITER}`);
    await client.query(`GRANT CONNECT ON DATABASE ${escapeIdentifier(String(server.database))} TO ${WRITER}`);
  } finally {
    await client.end();
  }
  return { ...server, user: WRITER, password: PASSWORD };
}
