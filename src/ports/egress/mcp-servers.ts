// McpServers: MCP servers behind the gateway, each over one connection that is kept and shared by all of its callers.
import type { JsonObject, JsonSchema, JsonValue } from '../../contract/json.ts';
import type { EgressPolicy } from './http-client.ts';

export type McpServerSettings = McpStdioSettings | McpHttpSettings;

/** A server that the gateway starts itself and speaks to over its stdin and stdout. */
export interface McpStdioSettings {
  readonly kind: 'stdio';
  /** The program by its absolute path, and its arguments; with `package` the arguments alone. Never a shell. */
  readonly argv: readonly string[];
  /** What the program is of, and is installed from before the first start. */
  readonly package?: McpPackage;
  readonly cwd: string;
  /** The whole environment of the server: nothing is inherited. */
  readonly env: { readonly [name: string]: string };
  /** `off` runs it as the gateway's own user, with all that this user may do. */
  readonly sandbox: 'required' | 'off';
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly network: 'none' | 'host';
  readonly memoryBytes: number;
  readonly maxProcesses: number;
  /** Size of its /tmp; absent: as of every process that stays. */
  readonly tmpBytes?: number;
  /** `auto` asks for the newest revision first: a server that ends on what it does not know would end then. */
  readonly protocol: 'legacy' | 'auto';
  readonly limits: McpLimits;
}

export interface McpPackage {
  /** Of one registry. The program is of the first, unless `program` is found in another; the rest lie beside it. */
  readonly packages: readonly {
    readonly registry: 'npm' | 'pypi';
    readonly name: string;
    readonly extras: readonly string[];
    /** In full. */
    readonly version: string;
  }[];
  /** Absent: the only one, or the one with the package's name. */
  readonly program?: string;
  /** Whether packages may run code of their own while they are installed. */
  readonly scripts: boolean;
}

/** A server elsewhere, over Streamable HTTP. */
export interface McpHttpSettings {
  readonly kind: 'http';
  readonly url: string;
  readonly egress: EgressPolicy;
  /** Sent with each request; may hold secrets. */
  readonly headers: { readonly [name: string]: string };
  readonly limits: McpLimits;
}

export interface McpLimits {
  readonly connectTimeoutMs: number;
  /** One message of the server, and all pages of its list of tools together. */
  readonly maxMessageBytes: number;
  readonly maxTools: number;
  /** Connections within a minute that fail or break before the server is given up for the rest of it. */
  readonly maxFailuresPerMinute: number;
}

export interface McpServers {
  /**
   * Touches nothing yet: the first use connects. The same settings and secrets lead to the same connection. Nothing that the server
   * says and that is cut here holds a part of one of the secrets.
   */
  open(settings: McpServerSettings, secrets: readonly string[]): McpServer;
  close(): Promise<void>;
}

export interface McpServer {
  /** Has its package installed where that was not done yet. Throws ToolFailure UNAVAILABLE (PACKAGE_NOT_INSTALLED). */
  prepare(signal: AbortSignal): Promise<void>;
  /** Every page. Throws ToolFailure UNAVAILABLE where there is no server, OUTPUT_INVALID where it breaks the protocol. */
  listTools(signal: AbortSignal): Promise<McpListing>;
  /**
   * One call; many may be under way. An abort reaches the server as a cancellation and rejects with the signal's
   * reason. Throws ToolFailure; a tool's own error is a result with `isError`.
   */
  callTool(call: McpCall): Promise<McpResult>;
  /**
   * Runs when the server says that its tools have changed, and after each reconnection; the returned function ends it.
   * A server that was lost is connected to again by the next call, not before.
   */
  onToolsChanged(listener: () => void): () => void;
  /** The connection ends when the last who opened it has closed. */
  close(): Promise<void>;
}

export interface McpListing {
  /** As the server gives it: untrusted. */
  readonly server: { readonly name: string; readonly version: string };
  readonly protocolVersion: string;
  readonly tools: readonly McpTool[];
  /** How long the server lets the list be kept; absent: it does not say. */
  readonly ttlMs?: number;
}

/** A definition as the server gives it: every word of it is untrusted. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: JsonObject;
}

export interface McpCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Whose call it is. */
  readonly tenant?: string;
  readonly signal: AbortSignal;
  /** `traceparent` and the like, for the request's `_meta`. */
  readonly meta?: JsonObject;
  readonly onProgress?: (progress: McpProgress) => void;
  /**
   * What the server logs while this call is the only one of the connection: else nobody knows whose it is. Nothing more once a
   * call was given up, unless all of the connection have been of one tenant: the server may go on with it.
   */
  readonly onLog?: (log: McpLog) => void;
}

export interface McpLog {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** At most 2000 characters. */
  readonly message: string;
}

export interface McpProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface McpResult {
  /** Content blocks as the server sent them; at most 1000, and `maxMessageBytes` in all. */
  readonly content: readonly JsonObject[];
  readonly structuredContent?: JsonValue;
  readonly isError: boolean;
}
