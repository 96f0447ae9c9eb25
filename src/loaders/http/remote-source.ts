// RemoteSource: fetches the document, only when it has changed; what is no document, or not signed, counts as away.
import { LateError, within } from '../../lib/timers/within.ts';
import { hash } from 'node:crypto';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { SourceAway } from '../../contract/tool/source-away.ts';
import { egressOf } from '../../lib/egress/egress.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient, HttpResponse } from '../../ports/egress/http-client.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { HttpLoaderOptions } from './options.ts';
import { signatureProblem } from './signature.ts';
import { credentialOf, sourceSecrets, type SourceSecrets } from './source-secrets.ts';

export interface SourceDocument {
  readonly body: Buffer;
  /** sha256 of the body. */
  readonly hash: string;
  readonly etag?: string;
  readonly signature?: string;
  /** ISO 8601. */
  readonly fetchedAt: string;
}

export interface SourceNeeds {
  readonly log: Log;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly configDir: string;
}

const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,256}"$/;
const DOCUMENT_TYPES =
  /^(?:application\/(?:x-)?yaml|text\/(?:x-)?yaml|application\/json|application\/[\w.+-]+\+(?:json|yaml)|text\/plain|application\/octet-stream)$/;

export class RemoteSource {
  /** What problems name: a query may hold a key, so it is not shown. */
  readonly name: string;
  readonly #options: HttpLoaderOptions;
  readonly #needs: SourceNeeds;
  #held: SourceDocument | undefined;

  constructor(options: HttpLoaderOptions, needs: SourceNeeds) {
    const { origin, pathname } = new URL(options.url);
    this.name = origin + pathname;
    this.#options = options;
    this.#needs = needs;
  }

  /** The document as it is now. Throws SourceAway, or the signal's reason. */
  async fetch(signal: AbortSignal): Promise<SourceDocument> {
    const { timeout_ms: timeoutMs } = this.#options;
    try {
      const limit = { ms: timeoutMs, signal };
      this.#held = await within(this.#needs.clock, limit, (either) => this.#fetch(either));
      return this.#held;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof LateError) throw new SourceAway(`did not come within ${timeoutMs} ms`);
      throw this.#away(error);
    }
  }

  /** True if it may be used: signed, where that is asked for. Rejects with Error for secrets that cannot be had. */
  async isAuthentic({ body, signature }: SourceDocument): Promise<boolean> {
    const secrets = await this.#secrets();
    return (
      secrets.signature === undefined || signatureProblem(body, signature, secrets.signature) === undefined
    );
  }

  async #secrets(): Promise<SourceSecrets> {
    const secrets = await sourceSecrets(this.#options, this.#needs.configDir);
    this.#needs.log.hide?.(secrets.known);
    return secrets;
  }

  async #fetch(signal: AbortSignal): Promise<SourceDocument> {
    const { url: text, max_bytes: maxBytes } = this.#options;
    const url = new URL(text);
    const secrets = await this.#secrets();
    const { headers, query } = credentialOf(secrets.auth);
    if (query !== undefined) url.search = url.search === '' ? query : `${url.search}&${query}`;
    const known = this.#held;
    const response = await this.#needs.http.request({
      method: 'GET',
      origin: url.origin,
      path: url.pathname + url.search,
      headers: {
        accept: 'application/yaml, application/json;q=0.9, text/plain;q=0.5',
        'user-agent': 'unified-tool-executor',
        ...(known?.etag !== undefined && { 'if-none-match': known.etag }),
        ...headers,
      },
      egress: egressOf(this.#options, url),
      maxResponseBytes: maxBytes,
      signal,
    });
    if (response.status === 304 && known?.etag !== undefined) return known;
    return this.#accept(response, secrets, known);
  }

  #accept(
    { status, headers, body }: HttpResponse,
    { signature: wanted }: SourceSecrets,
    known: SourceDocument | undefined,
  ): SourceDocument {
    if (status !== 200) {
      throw new SourceAway(`was answered with HTTP ${status}${hintFor(status)}`);
    }
    const type = oneOf(headers['content-type'])?.split(';', 1)[0]?.trim().toLowerCase();
    if (type !== undefined && !DOCUMENT_TYPES.test(type))
      throw new SourceAway(`came as ${JSON.stringify(type.slice(0, 60))}; expected YAML or JSON`);
    const signature = wanted && oneOf(headers[wanted.header.toLowerCase()]);
    const problem = wanted && keyed(() => signatureProblem(body, signature, wanted));
    if (problem !== undefined) throw new SourceAway(problem);
    const etag = oneOf(headers['etag']);
    const bodyHash = hash('sha256', body);
    return {
      // The very same bytes again: one buffer is enough.
      body: known?.hash === bodyHash ? known.body : body,
      hash: bodyHash,
      ...(etag !== undefined && ETAG.test(etag) && { etag }),
      ...(signature !== undefined && { signature }),
      fetchedAt: new Date(this.#needs.clock.wall()).toISOString(),
    };
  }

  #away(error: unknown): SourceAway {
    if (error instanceof SourceAway) return error;
    if (error instanceof ToolFailure && error.type === 'OUTPUT_TOO_LARGE')
      return new SourceAway(`is larger than max_bytes (${this.#options.max_bytes})`);
    return new SourceAway(`cannot be fetched: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function hintFor(status: number): string {
  if (status === 304) return ' (not modified), but no version of it is known here';
  return status >= 300 && status < 400 ? '; redirects are not followed: name the final URL' : '';
}

/** A header that comes twice says two things: neither is taken. */
function oneOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

function keyed<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`signature.key: ${why}`, { cause: error });
  }
}
