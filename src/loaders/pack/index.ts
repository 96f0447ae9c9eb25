// pack: a ready-made set of tools, one that comes with the gateway or a folder of the operator's made like it.
import { basename, join, resolve } from 'node:path';
import type { EntryProblem, Loader, LoaderPlugin } from '../../contract/plugin.ts';
import type {
  LoadedTools,
  Problem,
  RawConnection,
  RawDeclaration,
} from '../../contract/tool/loaded-tools.ts';
import { unusedOverrides } from '../../lib/overrides/tool-overrides.ts';
import { folderOfPack } from '../../lib/packs/own-packs.ts';
import { readManifest } from '../../lib/packs/pack-manifest.ts';
import { hashOf, readText } from '../../lib/text/read-text.ts';
import { parseWhole, type ParsedConnection } from '../../lib/tools-yaml/parse-whole.ts';
import { resolveConnection } from '../../lib/tools-yaml/resolve-connection.ts';
import { pollContent } from '../../lib/files/poll-content.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { adaptTool, nameOfTool } from './adapt-tool.ts';
import { chosenFiles } from './chosen-files.ts';
import { optionsSchema, type PackOptions } from './options.ts';

type Parsed = ReturnType<typeof parseWhole>;

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  /** Absolute folder that relative paths start from. */
  readonly configDir: string;
  readonly entryProblem: EntryProblem;
}

export const packLoader: LoaderPlugin<PackOptions, Needs> = {
  name: 'pack',
  summary: 'Brings a ready-made set of tools that comes with the gateway, or a folder made like one.',
  optionsSchema,
  create: (needs) => (options: PackOptions) => new PackLoader(options, needs),
};

/** Read in one go, some 30 ms at most: larger files belong to `yaml-file`, which reads them off the event loop. */
const MAX_BYTES = 64 * 1024;
const POLL_MS = 1_000;
/** Of every pack; those of its choices come behind. */
const FILES = ['pack.yaml', 'tools.yaml'];

class PackLoader implements Loader {
  readonly #options: PackOptions;
  readonly #needs: Needs;
  readonly #log: Log;
  #loaded = '';
  #files: readonly string[] = FILES;

  constructor(options: PackOptions, needs: Needs) {
    this.#options = options;
    this.#needs = needs;
    this.#log = needs.log.child({ loader: 'pack', pack: options.name });
  }

  async load(signal: AbortSignal): Promise<LoadedTools> {
    const found = this.#folder();
    if ('message' in found) return refused([this.#needs.entryProblem(['name'], found.message)]);
    const { folder } = found;
    this.#loaded = await fingerprint(folder, this.#files);
    const manifest = await readManifest(join(folder, 'pack.yaml'));
    if ('faults' in manifest) return refused(manifest.faults);
    const { name } = this.#options;
    if (manifest.manifest.name !== name) {
      const message = `the pack in ${basename(folder)} is "${manifest.manifest.name}", not "${name}"`;
      return refused([{ file: join(folder, 'pack.yaml'), path: 'name', message }]);
    }
    const chosen = chosenFiles(manifest.manifest, this.#options);
    this.#files = [...FILES, ...chosen.files];
    this.#loaded = await fingerprint(folder, this.#files);
    const parsed = await this.#parse(folder, this.#files.slice(1));
    signal.throwIfAborted();
    if ('message' in parsed) return refused([parsed]);
    const tools = parsed.tools.flatMap((tool): RawDeclaration[] => {
      const adapted = adaptTool(tool, this.#options);
      return adapted === undefined ? [] : [{ ...adapted, baseDir: folder, locate: tool.locate }];
    });
    const connections = await this.#connections(parsed.connections, folder);
    signal.throwIfAborted();
    const problems = [
      ...chosen.problems.map(({ choice, message }) => this.#needs.entryProblem(['choose', choice], message)),
      ...parsed.problems,
      ...connections.problems,
      ...this.#mistakes(
        parsed.connections,
        parsed.tools.map((tool) => nameOfTool(tool)),
      ),
    ];
    return { tools, connections: connections.made, problems };
  }

  /** Folders of the operator alone: what comes with the gateway does not change while it runs. */
  async watch(changed: () => void, signal: AbortSignal): Promise<void> {
    const found = this.#folder();
    if (this.#options.path === undefined || 'message' in found) return;
    const content = {
      everyMs: POLL_MS,
      clock: this.#needs.clock,
      loaded: () => this.#loaded,
      current: () => fingerprint(found.folder, this.#files),
      failed: (error: unknown) =>
        this.#log.warn({ err: error }, 'The pack could not be checked for changes: it is checked again'),
    };
    await pollContent(content, changed, signal);
  }

  /** What the files declare, together; or why one cannot be read. */
  async #parse(folder: string, names: readonly string[]): Promise<Parsed | Problem> {
    const parsed: Parsed[] = [];
    for (const name of names) {
      const file = join(folder, name);
      const read = await readText(file, MAX_BYTES);
      if ('message' in read) return { file, message: read.message };
      parsed.push(parseWhole({ file, text: read.text }));
    }
    return {
      tools: parsed.flatMap(({ tools }) => tools),
      connections: parsed.flatMap(({ connections }) => connections),
      problems: parsed.flatMap(({ problems }) => problems),
    };
  }

  #folder(): { readonly folder: string } | { readonly message: string } {
    const { name, path } = this.#options;
    return path === undefined ? folderOfPack(name) : { folder: resolve(this.#needs.configDir, path) };
  }

  /** Those that the operator replaces are not made, so that their secrets need not be there. */
  async #connections(all: readonly ParsedConnection[], folder: string) {
    const made: RawConnection[] = [];
    const problems: Problem[] = [];
    for (const parsed of all) {
      if (Object.hasOwn(this.#options.connections, parsed.name)) continue;
      const { connection, problems: faults } = await resolveConnection(parsed, folder);
      if (connection !== undefined) made.push(connection);
      this.#log.hide?.(connection?.secrets ?? []);
      problems.push(...faults);
    }
    return { made, problems };
  }

  #mistakes(connections: readonly ParsedConnection[], tools: readonly string[]): readonly Problem[] {
    const known = new Set(connections.map(({ name }) => name));
    const named = Object.keys(this.#options.connections).filter((name) => !known.has(name));
    const unused = unusedOverrides(
      this.#options.overrides,
      tools.map((tool) => [tool]),
    );
    const { entryProblem } = this.#needs;
    const has = known.size === 0 ? 'it has none' : `it has ${[...known].join(', ')}`;
    return [
      ...named.map((name) =>
        entryProblem(['connections', name], `the pack has no connection of that name; ${has}`),
      ),
      ...unused.map((name) => entryProblem(['overrides', name], 'fits no tool of the pack')),
    ];
  }
}

function refused(problems: readonly Problem[]): LoadedTools {
  return { tools: [], connections: [], problems };
}

async function fingerprint(folder: string, names: readonly string[]): Promise<string> {
  const files = names.map((name) => join(folder, name));
  const hashes = await Promise.all(files.map(async (file) => hashOf(await readText(file, MAX_BYTES))));
  return hashes.join('\n');
}
