// What a pool of connections leads to, and how a statement that runs there is ended from outside.
import { Connection, type ClientBase, type ConnectionConfig, type PoolConfig } from 'pg';
import { NameResolver } from '../dns/name-resolver.ts';
import { resolvingSocket } from '../dns/resolving-socket.ts';
import type { PostgresSettings } from '../../ports/egress/sql-databases.ts';

/** The part in which a PostgreSQL elsewhere and the embedded one differ. */
export interface DatabaseServer {
  /** Connections at most. */
  readonly poolSize: number;
  /** How to connect. Rejects where the server, or what must be there first, cannot be had now. */
  pool(): Promise<PoolConfig>;
  /** Ends what runs on the connection; the connection is not used again. */
  cancel(client: ClientBase): Promise<void>;
  close(): Promise<void>;
}

const IDLE_MS = 30_000;
/** Bounds how long prepared statements of tools that are gone stay on a connection. */
const MAX_LIFETIME_S = 1_800;
const CANCEL_WAIT_MS = 2_000;

/** Results are read as text: this is the text that decode-value.ts reads. */
export const SESSION_DEFAULTS: readonly (readonly [name: string, value: string])[] = [
  ['TimeZone', 'UTC'],
  ['DateStyle', 'ISO,YMD'],
  ['IntervalStyle', 'iso_8601'],
  ['bytea_output', 'hex'],
  ['extra_float_digits', '1'],
  ['standard_conforming_strings', 'on'],
];

const names = new NameResolver();

/** Of any pool, wherever its server is. */
export function poolOptions({
  poolSize,
  connectTimeoutMs,
}: Pick<PostgresSettings, 'poolSize' | 'connectTimeoutMs'>) {
  return {
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: IDLE_MS,
    maxLifetimeSeconds: MAX_LIFETIME_S,
    application_name: 'unified-tool-executor',
    options: SESSION_DEFAULTS.map(([name, value]) => `-c ${name}=${value}`).join(' '),
    // For when the gateway dies or a call is lost: the server ends what nobody waits for.
    statement_timeout: 600_000,
    idle_in_transaction_session_timeout: 60_000,
  };
}

export class PostgresServer implements DatabaseServer {
  readonly poolSize: number;
  readonly config;

  constructor({ url, poolSize, connectTimeoutMs, ssl, sslCa }: PostgresSettings) {
    this.poolSize = poolSize;
    const { connectionString, options } = readUrl(url);
    const shared = poolOptions({ poolSize, connectTimeoutMs });
    this.config = {
      ...shared,
      connectionString,
      // Of two that set the same the last counts.
      options: [...options, shared.options].join(' '),
      keepAlive: true,
      stream: () => resolvingSocket(names),
      ssl: ssl === 'disable' ? false : { rejectUnauthorized: ssl === 'verify-full', ca: sslCa },
    };
  }

  async pool(): Promise<PoolConfig> {
    return this.config;
  }

  cancel(client: ClientBase): Promise<void> {
    return cancelOf(client);
  }

  async close(): Promise<void> {}
}

/** A cancel request goes over a connection of its own; the server closes that one once it has acted. */
export function cancelOf(client: ClientBase): Promise<void> {
  const { processID, secretKey, host, port, ssl } = client as CancellableClient;
  if (processID === null || secretKey === null) return Promise.resolve();
  const connection = new Connection({ ssl, stream: () => resolvingSocket(names) }) as CancelConnection;
  return new Promise<void>((resolve) => {
    const giveUp = setTimeout(() => connection.stream.destroy(), CANCEL_WAIT_MS);
    const send = () => connection.cancel(processID, secretKey);
    connection.on('connect', () => (ssl ? connection.requestSsl() : send()));
    connection.on('sslconnect', send);
    connection.on('error', () => connection.stream.destroy());
    connection.once('end', () => {
      clearTimeout(giveUp);
      resolve();
    });
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}

/** Of pg's Client and Connection, what @types/pg leaves out. */
interface CancellableClient extends ClientBase {
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly host: string;
  readonly port: number;
  readonly ssl: ConnectionConfig['ssl'];
}
interface CancelConnection extends Connection {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
}

/**
 * The connection's `ssl` decides, and it has read the URL's sslmode. The URL's options are taken out of it: the driver
 * would let them take the place of all others.
 */
function readUrl(url: string): { readonly connectionString: string; readonly options: readonly string[] } {
  const at = url.indexOf('?');
  if (at < 0) return { connectionString: url, options: [] };
  const query = new URLSearchParams(url.slice(at + 1));
  const options = query.getAll('options');
  for (const name of ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey', 'options']) query.delete(name);
  return { connectionString: `${url.slice(0, at)}?${query.toString()}`, options };
}
