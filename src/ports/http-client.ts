// HttpClient: outbound HTTP for executors and loaders. Follows no redirects, reads no proxy settings.

export interface HttpRequest {
  readonly method: string;
  /** Scheme, host and port: https://api.example.com */
  readonly origin: string;
  /** Path and query, already encoded. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** At most maxResponseBytes; a longer body is a ToolFailure OUTPUT_TOO_LARGE. */
  readonly body: Buffer;
}

/**
 * No answer (refused, reset, DNS, TLS) is a ToolFailure UNAVAILABLE: reason CONNECT_FAILED when nothing was
 * sent, CONNECTION_LOST when something may have been. An abort rejects with the signal's reason.
 */
export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}
