// yaml-file: tools and connections out of YAML files, with the line and column of whatever is wrong, watched for changes.
import { dirname } from 'node:path';
import { setImmediate as yieldToLoop } from 'node:timers/promises';
import { z } from 'zod';
import type {
  LoadedTools,
  Problem,
  RawConnection,
  RawDeclaration,
} from '../../contract/tool/loaded-tools.ts';
import type { Loader, LoaderPlugin } from '../../contract/plugin.ts';
import { hashOf, readText } from '../../lib/text/read-text.ts';
import { resolveConnection } from '../../lib/tools-yaml/resolve-connection.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { ParseLimits } from './parse-large.ts';
import { parseSource, type ParsedSource, type PieceCache } from './parse-source.ts';
import { absolutePaths, contentFingerprint, findFiles, hashContents } from './source-files.ts';
import { watchFiles } from './watch-files.ts';

const optionsSchema = z.strictObject({
  paths: z
    .array(z.string().min(1))
    .min(1)
    .describe(
      'Files, or folders of *.yaml and *.yml files; relative ones start from the folder of gateway.yaml.',
    ),
});

export type YamlFileOptions = z.infer<typeof optionsSchema>;

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  /** Absolute folder that relative paths start from. */
  readonly configDir: string;
}

export const yamlFileLoader: LoaderPlugin<YamlFileOptions, Needs> = {
  name: 'yaml-file',
  summary: 'Reads tools and connections from YAML files and notices every change of them.',
  optionsSchema,
  create:
    (needs) =>
    ({ paths }: YamlFileOptions) =>
      new YamlFileLoader(absolutePaths(paths, needs.configDir), needs),
};

/** Longest time in one go before other work gets its turn, in milliseconds. */
const SLICE_MS = 10;

class YamlFileLoader implements Loader {
  readonly #paths: readonly string[];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #pieces = new Map<string, PieceCache>();
  /** What the last load read, secrets included: path to hash. */
  #contents: ReadonlyMap<string, string> = new Map();
  #secretFiles: readonly string[] = [];

  constructor(paths: readonly string[], { clock, log }: Needs) {
    this.#paths = paths;
    this.#clock = clock;
    this.#log = log.child({ loader: 'yaml-file' });
  }

  async load(signal: AbortSignal): Promise<LoadedTools> {
    const tools: RawDeclaration[] = [];
    const connections: RawConnection[] = [];
    const contents = new Map<string, string>();
    const secrets = new Map<string, string>();
    const { files, problems: missing } = await findFiles(this.#paths);
    const problems: Problem[] = [...missing];
    for (const { file, message } of missing) contents.set(file, message);
    const yieldIfDue = timeSlices();
    for (const file of files) {
      signal.throwIfAborted();
      const read = await readText(file);
      contents.set(file, hashOf(read));
      if ('message' in read) {
        problems.push({ file, message: read.message });
        continue;
      }
      const parsed = await this.#parse(file, read.text, { yieldIfDue, clock: this.#clock, signal });
      tools.push(...parsed.tools);
      problems.push(...parsed.problems);
      for (const connection of parsed.connections) {
        const made = await resolveConnection(connection, dirname(file));
        if (made.connection !== undefined) connections.push(made.connection);
        this.#log.hide?.(made.connection?.secrets ?? []);
        problems.push(...made.problems);
        for (const [secret, content] of made.files) secrets.set(secret, content);
      }
    }
    if (problems.length === 0) this.#forgetExcept(files);
    this.#contents = new Map([...contents, ...secrets]);
    this.#secretFiles = [...secrets.keys()];
    return { tools, connections, problems };
  }

  watch(changed: () => void, signal: AbortSignal): Promise<void> {
    return watchFiles(
      {
        paths: this.#paths,
        secretFiles: () => this.#secretFiles,
        loaded: () => contentFingerprint(this.#contents),
        onDisk: async () => contentFingerprint(await hashContents(this.#paths, this.#secretFiles)),
        clock: this.#clock,
        log: this.#log,
      },
      changed,
      signal,
    );
  }

  async #parse(file: string, text: string, limits: ParseLimits): Promise<ParsedSource> {
    const cache: PieceCache = this.#pieces.get(file) ?? new Map();
    this.#pieces.set(file, cache);
    try {
      return await parseSource({ file, baseDir: dirname(file), text }, cache, limits);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { tools: [], connections: [], problems: [{ file, message: 'is nested too deeply to be read' }] };
    }
  }

  #forgetExcept(files: readonly string[]): void {
    for (const file of this.#pieces.keys()) if (!files.includes(file)) this.#pieces.delete(file);
  }
}

/** Gives way to other work whenever this one has run for a while. */
function timeSlices(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await yieldToLoop();
    since = performance.now();
  };
}
