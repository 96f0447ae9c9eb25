// http: tools out of a document at a URL, looked at again and again; a copy on disk is kept for a start while it is away.
import { hash } from 'node:crypto';
import type { LoadedTools } from '../../contract/tool/loaded-tools.ts';
import type { Origin } from '../../contract/tool/origin.ts';
import { SourceAway, type KeptTools } from '../../contract/tool/source-away.ts';
import type { Loader, LoaderPlugin } from '../../contract/plugin.ts';
import { AWAY, pollContent } from '../../lib/files/poll-content.ts';
import { runInThread, ThreadTaskError } from '../../lib/concurrency/thread-task.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { loadedTools } from './declarations.ts';
import { fetchMetrics, type FetchMetrics } from './fetch-metrics.ts';
import { KeptCopy } from './kept-copy.ts';
import { optionsSchema, type HttpLoaderOptions } from './options.ts';
import type { ReadDocument, ReadRequest } from './read-document.ts';
import { RemoteSource, type SourceDocument, type SourceNeeds } from './remote-source.ts';

interface Needs extends SourceNeeds {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Absolute folder of what the gateway keeps. */
  readonly dataDir: string;
}

export const httpLoader: LoaderPlugin<HttpLoaderOptions, Needs> = {
  name: 'http',
  summary: 'Reads tools from a YAML or JSON document at a URL, signed or not, and notices its changes.',
  optionsSchema,
  needsNetwork: () => true,
  create: (needs) => (options: HttpLoaderOptions) => new HttpLoader(options, needs),
};

const READ_TIMEOUT_MS = 60_000;
const MIB = 1024 * 1024;
/** A parsed document is many times its text. */
const MEMORY_MB = { base: 256, perMib: 192 } as const;
/** What aliases repeat counts each time. */
const EXPANSION = 4;
/** Looks of many replicas spread over the last fifth of the interval. */
const JITTER = 0.2;
const NOTHING: LoadedTools = { tools: [], connections: [], problems: [] };

/** Beside this file, in src as in dist. */
const THREAD = new URL(`document-thread${import.meta.url.slice(-3)}`, import.meta.url);

class HttpLoader implements Loader {
  readonly source: string;
  readonly #options: HttpLoaderOptions;
  readonly #needs: Needs;
  readonly #remote: RemoteSource;
  readonly #copy: KeptCopy | undefined;
  readonly #origin: Origin;
  readonly #log: Log;
  readonly #metrics: FetchMetrics;
  /** What the last document became: the same one is not read again. */
  #read: { readonly hash: string; readonly loaded: LoadedTools } | undefined;
  /** Brought by the last load; good as soon as the registry has taken it. */
  #offered: SourceDocument | undefined;
  /** The registry holds a document of this run: the copy on disk is no newer. */
  #wasTaken = false;
  #seen = '';
  #loaded = '';

  constructor(options: HttpLoaderOptions, needs: Needs) {
    this.#options = options;
    this.#needs = needs;
    this.#remote = new RemoteSource(options, needs);
    this.source = this.#remote.name;
    // A query may hold a key, and tells two documents of one server apart.
    this.#origin = { source: `http:${hash('sha256', options.url)}`, mayCall: options.may_call };
    this.#copy = options.keep_copy ? new KeptCopy(options.url, needs.dataDir, options.max_bytes) : undefined;
    this.#log = needs.log.child({ loader: 'http', source: this.source });
    this.#metrics = fetchMetrics(needs.metrics, this.source);
    if (options.signature === undefined && options.url.startsWith('http:'))
      this.#log.warn({}, 'tools come over a connection that is neither encrypted nor signed');
  }

  async load(signal: AbortSignal): Promise<LoadedTools> {
    const fetched = await this.#fetch(signal).catch((error: unknown) => {
      this.#loaded = AWAY;
      throw error;
    });
    this.#loaded = fetched.hash;
    this.#offered = fetched;
    return this.#readOnce(fetched, signal);
  }

  async kept(signal: AbortSignal): Promise<KeptTools | undefined> {
    const copy = this.#wasTaken ? undefined : await this.#keptCopy();
    if (copy === undefined) return undefined;
    const loaded = await this.#readOnce(copy, signal);
    return { loaded, says: `the document of ${copy.fetchedAt}, kept on disk, stays in force` };
  }

  taken(): void {
    const document = this.#offered;
    if (document === undefined) return;
    this.#wasTaken = true;
    this.#copy?.write(document).catch((error: unknown) => {
      this.#log.warn(
        { err: error },
        'the document could not be kept on disk: a start without its source has no copy of it',
      );
    });
  }

  async watch(changed: () => void, signal: AbortSignal): Promise<void> {
    const { clock } = this.#needs;
    const content = {
      everyMs: this.#options.interval,
      clock: {
        after: (ms: number, task: () => void) => clock.after(ms * (1 - JITTER * Math.random()), task),
      },
      loaded: () => this.#loaded,
      current: (stop: AbortSignal) => this.#fingerprint(stop),
      failed: (error: unknown) =>
        this.#log.warn(
          { err: error },
          'the source could not be checked for a new document: it is checked again',
        ),
    };
    await pollContent(content, changed, signal);
  }

  async #fingerprint(signal: AbortSignal): Promise<string> {
    try {
      return (await this.#fetch(signal)).hash;
    } catch (error) {
      if (error instanceof SourceAway) return AWAY;
      throw error;
    }
  }

  async #fetch(signal: AbortSignal): Promise<SourceDocument> {
    try {
      const fetched = await this.#remote.fetch(signal);
      this.#metrics.record(fetched.hash === this.#seen ? 'unchanged' : 'changed');
      this.#seen = fetched.hash;
      return fetched;
    } catch (error) {
      if (error instanceof SourceAway) this.#metrics.record('failed');
      throw error;
    }
  }

  /** What lies on disk is believed no more than what comes over the network. */
  async #keptCopy(): Promise<SourceDocument | undefined> {
    const kept = await this.#copy?.read();
    if (kept === undefined) return undefined;
    const authentic = await this.#remote.isAuthentic(kept).catch(() => false);
    if (authentic) return kept;
    this.#log.warn({}, 'the copy on disk is not signed with the key of this loader and is left alone');
    return undefined;
  }

  async #readOnce(document: SourceDocument, signal: AbortSignal): Promise<LoadedTools> {
    if (this.#read?.hash === document.hash) return this.#read.loaded;
    const loaded = await this.#readElsewhere(document.body, signal);
    this.#read = { hash: document.hash, loaded };
    return loaded;
  }

  async #readElsewhere(body: Buffer, signal: AbortSignal): Promise<LoadedTools> {
    const file = this.source;
    const refused = (message: string) => ({ ...NOTHING, problems: [{ file, message }] });
    const { max_bytes: maxBytes } = this.#options;
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    } catch {
      return refused('is not UTF-8 text');
    }
    try {
      const request: ReadRequest = { file, text, rules: this.#rules() };
      const read = await runInThread<ReadDocument>(THREAD, request, {
        clock: this.#needs.clock,
        timeoutMs: READ_TIMEOUT_MS,
        maxMemoryMb: MEMORY_MB.base + Math.ceil((MEMORY_MB.perMib * maxBytes) / MIB),
        signal,
      });
      return loadedTools(read, { file, baseDir: this.#needs.configDir, origin: this.#origin });
    } catch (error) {
      if (!(error instanceof ThreadTaskError)) throw error;
      return refused(`cannot be read: ${error.message}`);
    }
  }

  #rules(): ReadRequest['rules'] {
    const { max_bytes: maxBytes, max_tools: maxTools, tool_types: toolTypes } = this.#options;
    const { connections, allow_connections: allowConnections } = this.#options;
    const { may_call: mayCall } = this.#options;
    const maxJsonLength = maxBytes * EXPANSION;
    return { maxTools, maxJsonLength, toolTypes, connections, allowConnections, mayCall };
  }
}
