// The connection that the entry describes: references resolved, checked, and the server behind it opened once.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import type { Problem, RawConnection } from '../../contract/tool/loaded-tools.ts';
import { mcpConnectionSchema } from '../../lib/mcp/mcp-connection.ts';
import { mcpSettings } from '../../lib/mcp/mcp-settings.ts';
import { resolveReferences } from '../../lib/secrets/references.ts';
import type { McpServer, McpServers, McpServerSettings } from '../../ports/egress/mcp-servers.ts';

export interface OpenedConnection {
  readonly raw: RawConnection;
  readonly server: McpServer;
  readonly maxTools: number;
}

export type ConnectionOutcome = OpenedConnection | { readonly problems: readonly Problem[] };

interface ConnectionNeeds {
  readonly baseDir: string;
  readonly servers: McpServers;
  readonly learned: (secrets: readonly string[]) => void;
}

export class OwnConnection {
  readonly #name: string;
  readonly #value: JsonObject;
  readonly #baseDir: string;
  readonly #servers: McpServers;
  readonly #file: string;
  readonly #learned: (secrets: readonly string[]) => void;
  #opened: { readonly connection: OpenedConnection; readonly settings: string } | undefined;

  /** `learned` is told of what references bring in, before anything is done with it. */
  constructor(name: string, fields: JsonObject, { baseDir, servers, learned }: ConnectionNeeds) {
    this.#name = name;
    this.#value = { type: 'mcp', ...fields };
    this.#baseDir = baseDir;
    this.#servers = servers;
    this.#learned = learned;
    this.#file = `mcp-server:${name}`;
  }

  get server(): McpServer | undefined {
    return this.#opened?.connection.server;
  }

  /** Asks for nothing but files: the server is not reached yet. */
  async open(): Promise<ConnectionOutcome> {
    const { value, faults, secrets } = await resolveReferences(this.#value, {
      env: process.env,
      baseDir: this.#baseDir,
    });
    if (faults.length > 0)
      return { problems: faults.map(({ path, message }) => this.#problem(path.join('.'), message)) };
    this.#learned(secrets);
    const resolved = value as JsonObject;
    const { concurrency: _limit, ...own } = resolved;
    const parsed = mcpConnectionSchema.safeParse(own);
    if (!parsed.success)
      return {
        problems: parsed.error.issues.map(({ path, message }) => this.#problem(path.join('.'), message)),
      };
    try {
      return this.#openedWith(resolved, secrets, mcpSettings(own, this.#baseDir));
    } catch (error) {
      return { problems: [this.#problem('', (error as Error).message)] };
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.connection.server.close();
  }

  #openedWith(
    resolved: JsonObject,
    secrets: readonly string[],
    settings: McpServerSettings,
  ): OpenedConnection {
    const fingerprint = hash('sha256', JSON.stringify([settings, resolved]));
    if (this.#opened?.settings === fingerprint) return this.#opened.connection;
    const before = this.#opened?.connection.server;
    const raw: RawConnection = {
      name: this.#name,
      value: this.#value,
      resolved,
      secrets,
      contentHash: fingerprint,
      baseDir: this.#baseDir,
      locate: () => ({ file: this.#file }),
    };
    const connection = {
      raw,
      server: this.#servers.open(settings, secrets),
      maxTools: settings.limits.maxTools,
    };
    this.#opened = { connection, settings: fingerprint };
    void before?.close().catch(() => undefined);
    return connection;
  }

  #problem(path: string, message: string): Problem {
    return { file: this.#file, ...(path !== '' && { path }), message };
  }
}
