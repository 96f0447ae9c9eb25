// ToolDatabases: databases of tools on the embedded server, each behind a login that reaches it alone and cannot become more.
import { randomBytes } from 'node:crypto';
import { Client, escapeIdentifier, escapeLiteral, type PoolConfig } from 'pg';
import type { EmbeddedSettings } from '../../ports/egress/sql-databases.ts';
import type { EmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts';

type Server = Pick<EmbeddedPostgres, 'pool'>;

/** Of a database that is kept, and of one that is made anew each time. */
const KEPT = 'tool_';
const PASSING = 'passing_';
/** For statements that are looked at, and cancelled ones that have not ended yet. */
const SPARE_CONNECTIONS = 3;
const OWNER_CONNECTIONS = 2;

/** What a session of a tool may take, whatever it asks for: a superuser's settings among them. */
const BOUNDS: readonly (readonly [name: string, value: string])[] = [
  ['statement_timeout', '600s'],
  ['idle_in_transaction_session_timeout', '60s'],
  ['temp_file_limit', '256MB'],
  ['work_mem', '4MB'],
];

interface Logins {
  readonly database: string;
  readonly owner: string;
  readonly tool: string;
  /** Of both; of this process alone. */
  readonly password: string;
}

export class ToolDatabases {
  readonly #server: Server;
  readonly #kept = new Map<string, Promise<Logins>>();
  #swept: Promise<void> | undefined;
  /** Two changes of one row of the catalog at a time would fail. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(server: Server) {
    this.#server = server;
  }

  /** Makes what is missing and runs the schema as the database's owner. How to connect as the tool, with `drop` for the end. */
  open(settings: EmbeddedSettings): Promise<{ pool: PoolConfig; drop: () => Promise<void> }> {
    const opened = this.#turn.then(() => this.#open(settings));
    this.#turn = opened.catch(() => undefined);
    return opened;
  }

  async #open(settings: EmbeddedSettings): Promise<{ pool: PoolConfig; drop: () => Promise<void> }> {
    this.#swept ??= this.#sweep();
    await this.#swept.catch((error: unknown) => {
      this.#swept = undefined;
      throw error;
    });
    const logins = await this.#logins(settings);
    const drop = async () => {
      if (settings.database === undefined) await this.#asSuperuser((run) => dropAll(run, logins.database));
    };
    try {
      if (settings.initSql !== undefined) await this.#initialize(logins, settings.initSql);
    } catch (error) {
      await drop().catch(() => undefined);
      throw error;
    }
    const server = await this.#server.pool(logins.database);
    return { pool: { ...server, user: logins.tool, password: logins.password }, drop };
  }

  /** One password for as long as the process lives: other pools may use it already. */
  #logins(settings: EmbeddedSettings): Promise<Logins> {
    const { database } = settings;
    if (database === undefined) return this.#make(`${PASSING}${randomBytes(6).toString('hex')}`, settings);
    const name = `${KEPT}${database}`;
    const key = JSON.stringify([name, settings.role, settings.poolSize]);
    const known = this.#kept.get(key) ?? this.#make(name, settings);
    this.#kept.set(key, known);
    known.catch(() => this.#kept.delete(key));
    return known;
  }

  async #make(database: string, { role, poolSize }: EmbeddedSettings): Promise<Logins> {
    // Tools that use one database under different roles have different logins.
    const tool = role === undefined ? `${database}:all` : `${database}:${role}`.slice(0, 63);
    const logins = { database, owner: database, tool, password: PASSWORD };
    await this.#asSuperuser(async (run) => {
      await makeLogin(run, logins.owner, logins.password, OWNER_CONNECTIONS);
      await makeLogin(run, tool, logins.password, poolSize + SPARE_CONNECTIONS);
      for (const [name, value] of BOUNDS)
        await run(`ALTER ROLE ${escapeIdentifier(tool)} SET ${name} = ${escapeLiteral(value)}`);
      if (role !== undefined && !(await isThere(run, 'pg_roles', 'rolname', role)))
        await run(`CREATE ROLE ${escapeIdentifier(role)} NOLOGIN`);
      // What the role may, the login may; it cannot become the role, let alone what that may become.
      const group = escapeIdentifier(role ?? logins.owner);
      await run(`GRANT ${group} TO ${escapeIdentifier(tool)} WITH INHERIT TRUE, SET FALSE, ADMIN FALSE`);
      const own = escapeIdentifier(database);
      if (!(await isThere(run, 'pg_database', 'datname', database))) {
        await run(`CREATE DATABASE ${own} TEMPLATE template0`);
        await run(`REVOKE ALL ON DATABASE ${own} FROM PUBLIC`);
      }
      for (const shared of ['postgres', 'template1'])
        await run(`REVOKE ALL ON DATABASE ${shared} FROM PUBLIC`);
      await run(`GRANT CONNECT, TEMPORARY ON DATABASE ${own} TO ${escapeIdentifier(tool)}, ${own}`);
    });
    await this.#asSuperuser(
      (run) => run(`GRANT ALL ON SCHEMA public TO ${escapeIdentifier(database)}`),
      database,
    );
    return logins;
  }

  /** The owner may make schemas and extensions while the operator's own SQL runs, and tools never. */
  async #initialize({ database, owner, password }: Logins, initSql: string): Promise<void> {
    const [own, name] = [escapeIdentifier(database), escapeIdentifier(owner)];
    await this.#asSuperuser((run) => run(`GRANT CREATE ON DATABASE ${own} TO ${name}`));
    try {
      const server = await this.#server.pool(database);
      await connected({ ...server, user: owner, password }, (client) => client.query(initSql));
    } finally {
      await this.#asSuperuser((run) => run(`REVOKE CREATE ON DATABASE ${own} FROM ${name}`));
    }
  }

  /** What a process that was killed has left. */
  async #sweep(): Promise<void> {
    await this.#asSuperuser(async (run) => {
      const left = await run(`SELECT datname AS name FROM pg_database WHERE datname LIKE '${PASSING}%'`);
      for (const { name } of left) await dropAll(run, String(name));
    });
  }

  async #asSuperuser<T>(work: (run: Run) => Promise<T>, database?: string): Promise<T> {
    return connected(await this.#server.pool(database), (client) =>
      work(async (text) => (await client.query<Record<string, unknown>>(text)).rows),
    );
  }
}

type Run = (text: string) => Promise<readonly Record<string, unknown>[]>;

/** Given anew by each process, and told to nobody. */
const PASSWORD = randomBytes(24).toString('base64url');

async function connected<T>(config: PoolConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(config);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function makeLogin(run: Run, name: string, password: string, connections: number): Promise<void> {
  const verb = (await isThere(run, 'pg_roles', 'rolname', name)) ? 'ALTER' : 'CREATE';
  await run(
    `${verb} ROLE ${escapeIdentifier(name)} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS ` +
      `CONNECTION LIMIT ${connections} PASSWORD ${escapeLiteral(password)}`,
  );
}

async function isThere(run: Run, catalog: string, column: string, name: string): Promise<boolean> {
  return (await run(`SELECT FROM ${catalog} WHERE ${column} = ${escapeLiteral(name)}`)).length > 0;
}

async function dropAll(run: Run, database: string): Promise<void> {
  await run(`DROP DATABASE IF EXISTS ${escapeIdentifier(database)} WITH (FORCE)`);
  const roles = await run(
    `SELECT rolname AS name FROM pg_roles WHERE rolname = ${escapeLiteral(database)} OR starts_with(rolname, ${escapeLiteral(`${database}:`)})`,
  );
  for (const { name } of roles) await run(`DROP ROLE IF EXISTS ${escapeIdentifier(String(name))}`);
}
