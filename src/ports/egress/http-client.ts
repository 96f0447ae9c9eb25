// HttpClient: outbound HTTP for executors and loaders. Follows no redirects, reads no proxy settings.
import type { ToolFailure } from '../../contract/call/tool-failure.ts';

/** Where a connection's requests may go. Checked on the literal, on every DNS answer, and on the connected socket. */
export interface EgressPolicy {
  /** `api.example.com`, `*.example.com`, each with an optional `:port`. Empty: whatever origin `request` names. */
  readonly allowHosts: readonly string[];
  /** Ports, and ranges such as "8000-8999", besides 80 and 443. A port in `allowHosts` is allowed for that host. */
  readonly allowPorts?: readonly (number | string)[];
  /** Those that need not be listed, where they are not 80 and 443. */
  readonly usualPorts?: readonly number[];
  /**
   * Private, loopback and link-local addresses are refused unless one of these CIDR ranges holds them; a metadata
   * service unless a range is its one address. A refusal is a ToolFailure PERMANENT, reason EGRESS_DENIED.
   */
  readonly allowPrivate: readonly string[];
}

export interface HttpRequest {
  readonly method: string;
  /** Scheme, host and port: https://api.example.com */
  readonly origin: string;
  /** Path and query, already encoded. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string | Buffer;
  readonly egress: EgressPolicy;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
  /** Asked once the head of the answer is there: what `request` rejects with, without any more of it being read. */
  refuses?(status: number, headers: HttpResponse['headers']): Error | undefined;
  /**
   * Given, once, a question that is cheap and may be asked whenever the time of the caller is over: what the request waits
   * for, if it was not sent and that is known.
   */
  onWaiting?(why: () => ToolFailure | undefined): void;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** At most maxResponseBytes; a longer body is a ToolFailure OUTPUT_TOO_LARGE. */
  readonly body: Buffer;
}

/**
 * No answer (refused, reset, DNS, TLS) is a ToolFailure UNAVAILABLE: reason CONNECT_FAILED when nothing was
 * sent, DNS_TIMEOUT when no name server answered, CONNECTION_LOST when something may have been. An abort rejects with the signal's reason.
 */
export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>;
  /**
   * `fetch` for client libraries that bring their own protocol (MCP, OAuth): the same guards, redirects and content
   * codings refused, at most `maxResponseBytes` (16 MiB) unless it is an event stream. Such a library may be told any
   * URL by its server, so that `allowHosts` must not be empty: throws Error.
   */
  fetch(egress: EgressPolicy, maxResponseBytes?: number): typeof globalThis.fetch;
  close(): Promise<void>;
}
