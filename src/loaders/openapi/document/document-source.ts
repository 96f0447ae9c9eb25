// Where the document is: a file, or a URL that is fetched once per load, within a size and a time.
import { LateError, within } from '../../../lib/timers/within.ts';
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { SourceAway } from '../../../contract/tool/source-away.ts';
import { egressOf } from '../../../lib/egress/egress.ts';
import { AWAY } from '../../../lib/files/poll-content.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { HttpClient } from '../../../ports/egress/http-client.ts';
import type { OpenApiOptions } from '../options.ts';

/** UTF-8 in memory of its own, or a sentence that says what is wrong with what is there. */
export type ReadDocument = { readonly bytes: Uint8Array<ArrayBuffer> } | { readonly message: string };

export interface DocumentSource {
  /** The file's path or the URL: what problems name. */
  readonly name: string;
  /** Set for a document from the web: its relative servers start there. */
  readonly url: string | undefined;
  /** How often to look for a change; undefined: never. */
  readonly pollMs: number | undefined;
  /** Throws SourceAway, or the signal's reason. */
  read(signal: AbortSignal): Promise<ReadDocument>;
  /** Changes when the content does; AWAY where there is none. */
  fingerprint(signal: AbortSignal): Promise<string>;
}

export interface SourceNeeds {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly configDir: string;
}

const FILE_POLL_MS = 1_000;
const FETCH_TIMEOUT_MS = 30_000;

export function documentSource(options: OpenApiOptions, needs: SourceNeeds): DocumentSource {
  const { document, max_document_bytes: maxBytes } = options;
  if (typeof document === 'string') return new FileSource(resolve(needs.configDir, document), maxBytes);
  return new WebSource(document, maxBytes, needs);
}

export function hashOf(read: ReadDocument): string {
  return 'bytes' in read ? hash('sha256', read.bytes) : `! ${read.message}`;
}

class FileSource implements DocumentSource {
  readonly name: string;
  readonly url = undefined;
  readonly pollMs = FILE_POLL_MS;
  readonly #maxBytes: number;
  #last = { stat: '', hash: '' };

  constructor(path: string, maxBytes: number) {
    this.name = path;
    this.#maxBytes = maxBytes;
  }

  async read(): Promise<ReadDocument> {
    try {
      const about = await stat(this.name);
      if (!about.isFile()) return { message: 'is not a regular file' };
      if (about.size > this.#maxBytes) return { message: tooLarge(this.#maxBytes) };
      return checked(await readFile(this.name), this.#maxBytes);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return { message: code === 'ENOENT' ? 'does not exist' : `cannot be read: ${message}` };
    }
  }

  /** The file is read again only when something about it changed. */
  async fingerprint(): Promise<string> {
    const about = await stat(this.name).catch(() => undefined);
    const seen = about ? `${about.ino} ${about.size} ${about.mtimeMs} ${about.ctimeMs}` : '-';
    if (this.#last.stat !== seen) this.#last = { stat: seen, hash: hashOf(await this.read()) };
    return this.#last.hash;
  }
}

type Remote = Exclude<OpenApiOptions['document'], string>;

class WebSource implements DocumentSource {
  readonly name: string;
  readonly url: string;
  readonly pollMs: number | undefined;
  readonly #remote: Remote;
  readonly #maxBytes: number;
  readonly #needs: SourceNeeds;

  constructor(remote: Remote, maxBytes: number, needs: SourceNeeds) {
    const { origin, pathname } = new URL(remote.url);
    // A query may hold a key: it is not shown.
    this.name = origin + pathname;
    this.url = remote.url;
    this.pollMs = remote.refresh_ms;
    this.#remote = remote;
    this.#maxBytes = maxBytes;
    this.#needs = needs;
  }

  async read(signal: AbortSignal): Promise<ReadDocument> {
    try {
      const limit = { ms: FETCH_TIMEOUT_MS, signal };
      return await within(this.#needs.clock, limit, (either) => this.#fetch(either));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SourceAway) throw error;
      if (error instanceof LateError) throw new SourceAway(`did not come within ${FETCH_TIMEOUT_MS} ms`);
      if (error instanceof ToolFailure && error.type === 'OUTPUT_TOO_LARGE')
        return { message: tooLarge(this.#maxBytes) };
      const why = `cannot be fetched: ${error instanceof Error ? error.message : String(error)}`;
      // The operator's settings refuse it: waiting changes nothing.
      if (error instanceof ToolFailure && isReason(error, 'EGRESS_DENIED')) return { message: why };
      throw new SourceAway(why);
    }
  }

  async fingerprint(signal: AbortSignal): Promise<string> {
    try {
      return hashOf(await this.read(signal));
    } catch (error) {
      if (error instanceof SourceAway) return AWAY;
      throw error;
    }
  }

  async #fetch(signal: AbortSignal): Promise<ReadDocument> {
    const url = new URL(this.#remote.url);
    const { status, body } = await this.#needs.http.request({
      method: 'GET',
      origin: url.origin,
      path: url.pathname + url.search,
      headers: {
        accept: 'application/json, application/yaml;q=0.9, */*;q=0.5',
        'user-agent': 'unified-tool-executor',
      },
      egress: egressOf(this.#remote, url),
      maxResponseBytes: this.#maxBytes,
      signal,
    });
    if (status === 200) return checked(body, this.#maxBytes);
    const answered = `was answered with HTTP ${status}`;
    if (status < 300 || status >= 400) throw new SourceAway(answered);
    return { message: `${answered}; redirects are not followed: name the final URL` };
  }
}

function checked(bytes: Uint8Array, maxBytes: number): ReadDocument {
  // A file may have grown since its size was asked for.
  if (bytes.byteLength > maxBytes) return { message: tooLarge(maxBytes) };
  return isUtf8(bytes) ? { bytes: alone(bytes) } : { message: 'is not UTF-8 text' };
}

/** Memory that others have a part of cannot be given to a thread. */
function alone(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
  return isAlone ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

function tooLarge(maxBytes: number): string {
  return `is larger than max_document_bytes (${maxBytes})`;
}
