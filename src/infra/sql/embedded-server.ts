// A tool's database on the embedded server, as a pool sees it: made when the first statement comes.
import type { ClientBase, PoolConfig } from 'pg';
import type { EmbeddedSettings } from '../../ports/egress/sql-databases.ts';
import { cancelOf, poolOptions, type DatabaseServer } from './database-server.ts';
import type { ToolDatabases } from './tool-databases.ts';

export class EmbeddedServer implements DatabaseServer {
  readonly poolSize: number;
  readonly #databases: ToolDatabases;
  readonly #settings: EmbeddedSettings;
  #drop: () => Promise<void> = () => Promise.resolve();

  constructor(databases: ToolDatabases, settings: EmbeddedSettings) {
    this.poolSize = settings.poolSize;
    this.#databases = databases;
    this.#settings = settings;
  }

  async pool(): Promise<PoolConfig> {
    const { pool, drop } = await this.#databases.open(this.#settings);
    this.#drop = drop;
    return { ...poolOptions(this.#settings), ...pool };
  }

  cancel(client: ClientBase): Promise<void> {
    return cancelOf(client);
  }

  close(): Promise<void> {
    return this.#drop();
  }
}
