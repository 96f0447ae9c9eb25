// SqlDatabases: databases that run registered statements. Values are parameters of the protocol, never part of the text.
import type { JsonObject } from '../../contract/json.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';

/** The transaction-local setting that row-level security policies compare with. */
export const TENANT_SETTING = 'app.tenant_id';
/** The same for the agent and the user of the call; empty where it has none. */
export const AGENT_SETTING = 'app.agent_id';
export const USER_SETTING = 'app.user_id';

export type SqlDatabaseSettings = PostgresSettings | EmbeddedSettings;

export interface PostgresSettings {
  readonly kind: 'postgres';
  readonly url: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  /** `require` encrypts without checking who answers. */
  readonly ssl: 'disable' | 'require' | 'verify-full';
  /** PEM. Without it, the system's own authorities are trusted. */
  readonly sslCa?: string | undefined;
}

/** A database of its own on the gateway's embedded server. */
export interface EmbeddedSettings {
  readonly kind: 'embedded';
  /** Kept under this name; absent: made anew each time it is opened, gone when it is closed. */
  readonly database?: string;
  /** Run each time it is opened, as its owner. */
  readonly initSql?: string;
  /** Whose privileges statements have; without it, the owner's. Made where it is not there. */
  readonly role?: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
}

export interface SqlDatabases {
  /** Touches nothing yet: the first use connects. */
  open(settings: SqlDatabaseSettings): SqlDatabase;
  close(): Promise<void>;
}

export interface SqlDatabase {
  /**
   * Looks at a statement without running it. Throws ToolFailure UNAVAILABLE where there is no server, and
   * Error with a sentence for the operator where the server refuses the statement.
   */
  inspect(statement: SqlStatement, depth: 'shape' | 'isolation'): Promise<SqlInspection>;
  /**
   * Runs a statement in a transaction of its own: read-only and rolled back, unless it `writes`. Throws
   * ToolFailure; an abort rejects with the signal's reason, and ends the statement on the server too.
   */
  run(request: SqlRun): Promise<SqlResult>;
  close(): Promise<void>;
}

export interface SqlStatement {
  /** One statement with `$1 … $n`. */
  readonly text: string;
  readonly parameterCount: number;
  readonly writes: boolean;
}

export interface SqlRun {
  readonly statement: SqlStatement;
  /** In PostgreSQL's text format. */
  readonly values: readonly (string | null)[];
  /** What TENANT_SETTING is during this transaction. */
  readonly tenantId?: string;
  /** AGENT_SETTING and USER_SETTING. */
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
  readonly timeoutMs: number;
  readonly maxRows: number;
  /** Of row data, as the server sends it. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Given once, before anything is waited for: says what the call waits for inside the gateway, and undefined where that is nothing. */
  onWaiting?(why: () => ToolFailure | undefined): void;
}

export interface SqlResult {
  readonly rows: JsonObject[];
  /** Set when rows were left out: by which limit. */
  readonly cutBy?: 'max_rows' | 'max_bytes';
  /** How many rows a statement that writes has changed. */
  readonly affectedRows?: number;
}

export interface SqlInspection {
  /** Names of the parameters' types: `integer`, `text[]`, `jsonb`. */
  readonly parameterTypes: readonly string[];
  /** Absent: the statement gives no rows. */
  readonly columns?: readonly string[];
  /** A row is changed or locked somewhere in the plan. */
  readonly writes: boolean;
  /** What the statement itself calls, as the server resolved it; with the depth `isolation`, all that runs with it. */
  readonly functions: readonly SqlFunction[];
  readonly isolation?: SqlIsolation;
}

/** Everything besides functions that decides whether row-level security holds for a statement. */
export interface SqlIsolation {
  readonly role: { readonly name: string; readonly superuser: boolean; readonly bypassesRls: boolean };
  /** What the statement reaches, through views, functions and triggers too. */
  readonly relations: readonly SqlRelation[];
  /** Those that change rows of a table when the statement changes rows that they point at. */
  readonly foreignKeys: readonly SqlForeignKey[];
  /** What policies read the tenant as: only a tenant that is written in these forms is one of its own there. */
  readonly tenantForms: readonly TenantForm[];
}

/** Types of which one value can be written in several ways, and the way that PostgreSQL writes it. */
export type TenantForm = 'uuid' | 'integer';

export interface SqlForeignKey {
  readonly name: string;
  /** The table that has the key. */
  readonly table: string;
  /** The table that it points at. */
  readonly referenced: string;
  /** `ON DELETE CASCADE` */
  readonly action: string;
  /** The tenants' columns of both tables are part of it, so that it changes no other tenant's rows. */
  readonly holdsTenant: boolean;
}

export interface SqlRelation {
  readonly name: string;
  readonly kind: 'table' | 'view' | 'materialized view' | 'foreign table' | 'sequence';
  /** It comes with PostgreSQL: the catalog and its views. */
  readonly system: boolean;
  /** Reached as a partition or child of another one alone, whose policies hold then, or through a foreign key, where none do. */
  readonly partOfAnother: boolean;
  readonly ownedByRole: boolean;
  readonly securityInvoker: boolean;
  readonly rowSecurity: boolean;
  readonly forced: boolean;
  /** Those that apply to the role. */
  readonly policies: readonly SqlPolicy[];
  /** Of a statement that writes: the rules that may add to it what their owner may do. */
  readonly rules: readonly string[];
}

export interface SqlPolicy {
  readonly name: string;
  readonly permissive: boolean;
  readonly forAllCommands: boolean;
  /** Whether USING lets a row through only where a column of it equals TENANT_SETTING; absent: there is none. */
  readonly usingBindsTenant?: boolean;
  readonly checkBindsTenant?: boolean;
  /** Why a comparison with the tenant in it does not count. */
  readonly inexact?: string;
}

export interface SqlFunction {
  /** With the types of its arguments: `app.price(integer)`. */
  readonly name: string;
  /** Without its schema and arguments. */
  readonly plainName: string;
  /** It comes with PostgreSQL. */
  readonly builtin: boolean;
  readonly volatility: 'immutable' | 'stable' | 'volatile';
  /** `aggregate`: the functions that it consists of are listed by themselves. */
  readonly language: string;
  readonly securityDefiner: boolean;
  /** Its body is text, so that what it reaches cannot be seen. */
  readonly opaque: boolean;
  /** What it does that an IMMUTABLE function must not do, if it is called one: `reads tables`. */
  readonly changingPart?: string;
  /** Somewhere it is called without a column or a parameter: if it is IMMUTABLE, a plan keeps what it gave. */
  readonly foldable: boolean;
  /** Names of the settings that hold while it runs (`CREATE FUNCTION … SET name = …`). */
  readonly settings: readonly string[];
  /** The extension that brought it. */
  readonly extension?: string;
  /** For each place where it is called: its first argument, if that is a constant text, `#` for another constant. */
  readonly firstArguments: readonly (string | undefined)[];
}
