// openapi: the operations of an OpenAPI document as http tools.
import { dirname } from 'node:path';
import type { LoadedTools, Problem } from '../../contract/tool/loaded-tools.ts';
import type { Loader, LoaderPlugin } from '../../contract/plugin.ts';
import { AWAY, pollContent } from '../../lib/files/poll-content.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Converted } from './convert-document.ts';
import { convertElsewhere } from './convert-elsewhere.ts';
import { documentSource, hashOf, type DocumentSource, type SourceNeeds } from './document/document-source.ts';
import { optionsSchema, type OpenApiOptions } from './options.ts';

interface Needs extends SourceNeeds {
  readonly log: Log;
}

export const openApiLoader: LoaderPlugin<OpenApiOptions, Needs> = {
  name: 'openapi',
  summary: 'Makes an http tool of each operation in an OpenAPI 3.0 or 3.1 document, from a file or a URL.',
  optionsSchema,
  needsNetwork: ({ document }) => typeof document !== 'string',
  create: (needs) => (options: OpenApiOptions) =>
    new OpenApiLoader(documentSource(options, needs), options, needs),
};

const CONVERT_TIMEOUT_MS = 60_000;
/** Further ones are counted. */
const MOST_LINES = 100;
const NOTHING: LoadedTools = { tools: [], connections: [], problems: [] };

class OpenApiLoader implements Loader {
  readonly source?: string;
  readonly #source: DocumentSource;
  readonly #options: OpenApiOptions;
  readonly #needs: Needs;
  readonly #log: Log;
  /** What the last document became: the same document is not converted again. */
  #last: { readonly hash: string; readonly loaded: LoadedTools } = { hash: '', loaded: NOTHING };
  #loaded = '';

  constructor(source: DocumentSource, options: OpenApiOptions, needs: Needs) {
    this.#source = source;
    // A file is not away: one that is missing is a problem.
    if (source.url !== undefined) this.source = source.name;
    this.#options = options;
    this.#needs = needs;
    this.#log = needs.log.child({ loader: 'openapi', document: source.name });
  }

  async load(signal: AbortSignal): Promise<LoadedTools> {
    const read = await this.#source.read(signal).catch((error: unknown) => {
      this.#loaded = AWAY;
      throw error;
    });
    const hash = hashOf(read);
    this.#loaded = hash;
    if (hash === this.#last.hash) return this.#last.loaded;
    const loaded = 'bytes' in read ? await this.#convert(read.bytes, signal) : this.#refused(read.message);
    this.#last = { hash, loaded };
    return loaded;
  }

  async watch(changed: () => void, signal: AbortSignal): Promise<void> {
    const { pollMs } = this.#source;
    if (pollMs === undefined) return;
    const content = {
      everyMs: pollMs,
      clock: this.#needs.clock,
      loaded: () => this.#loaded,
      current: (stop: AbortSignal) => this.#source.fingerprint(stop),
      failed: (error: unknown) =>
        this.#log.warn(
          { err: error },
          'the source could not be checked for a new document: it is checked again',
        ),
    };
    await pollContent(content, changed, signal);
  }

  async #convert(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<LoadedTools> {
    const { clock, configDir } = this.#needs;
    const { name: file, url } = this.#source;
    let converted: Converted;
    try {
      const request = { bytes, documentUrl: url, options: this.#options };
      converted = await convertElsewhere(request, { clock, timeoutMs: CONVERT_TIMEOUT_MS, signal });
    } catch (error) {
      signal.throwIfAborted();
      return this.#refused(error instanceof Error ? error.message : String(error));
    }
    this.#report(converted);
    const baseDir = url === undefined ? dirname(file) : configDir;
    return {
      tools: converted.tools.map(({ value, contentHash, line }) => ({
        value,
        contentHash,
        baseDir,
        locate: () => ({ file, ...(line !== undefined && { line }) }),
      })),
      connections: [],
      problems: converted.problems.map(({ message, line }): Problem => ({
        file,
        ...(line !== undefined && { line }),
        message,
      })),
    };
  }

  #refused(message: string): LoadedTools {
    return { ...NOTHING, problems: [{ file: this.#source.name, message }] };
  }

  /** Everything that is not as the document has it. */
  #report({ tools, leftOut, notes, cut, problems }: Converted): void {
    if (problems.length > 0) return;
    for (const each of leftOut.slice(0, MOST_LINES)) this.#log.warn({ ...each }, 'an operation was left out');
    for (const each of notes.slice(0, MOST_LINES))
      this.#log.warn({ ...each }, 'an operation is not complete');
    const fields = {
      tools: tools.length,
      left_out: leftOut.length,
      incomplete: notes.length,
      cut_schemas: cut,
    };
    this.#log[leftOut.length > 0 ? 'warn' : 'info'](fields, 'OpenAPI document read');
  }
}
