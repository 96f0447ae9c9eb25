// tool-folder: folders of schema.json, doc_summary.md, doc.md and handler.js as tools; or the registry that was built from them.
import { hash } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Loader, LoaderPlugin } from '../../contract/plugin.ts';
import type { LoadedTools, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import { pollContent } from '../../lib/files/poll-content.ts';
import { readText, reasonOf, hashOf } from '../../lib/text/read-text.ts';
import { readFolder, toolFolders } from '../../lib/tool-folders/folder-files.ts';
import { readToolFolder } from '../../lib/tool-folders/read-tool-folder.ts';
import { REGISTRY_FILE } from '../../lib/tool-folders/registry-document.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { TrustedDefinitions } from '../../ports/registry/trusted-definitions.ts';
import { droppedFingerprint } from './dropped-tools.ts';
import { ConfirmedTools } from './load-confirmed.ts';
import { loadRegistry } from './load-registry.ts';
import { optionsSchema, type ToolFolderOptions } from './options.ts';

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  readonly trustedDefinitions: TrustedDefinitions;
  /** Absolute folder that relative paths start from. */
  readonly configDir: string;
}

export const toolFolderLoader: LoaderPlugin<ToolFolderOptions, Needs> = {
  name: 'tool-folder',
  summary:
    'Reads tools that are folders of schema, documentation and handler, or the registry built from them.',
  optionsSchema,
  create: (needs) => (options: ToolFolderOptions) => new ToolFolderLoader(options, needs),
};

const POLL_MS = 1_000;
const EMPTY = 'holds no tool folder: one with schema.json, doc_summary.md, doc.md and handler.js';

class ToolFolderLoader implements Loader {
  readonly #options: ToolFolderOptions;
  readonly #root: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #confirmed: ConfirmedTools;
  #loaded = '';

  constructor(options: ToolFolderOptions, { clock, log, configDir, trustedDefinitions }: Needs) {
    this.#options = options;
    this.#root = resolve(configDir, options.path);
    this.#clock = clock;
    this.#log = log.child({ loader: 'tool-folder' });
    const needs = { trustedDefinitions, log: this.#log };
    this.#confirmed = new ConfirmedTools(this.#root, `tool-folder:${options.path}`, needs);
  }

  async load(signal: AbortSignal): Promise<LoadedTools> {
    this.#loaded = await this.#fingerprint();
    signal.throwIfAborted();
    if (this.#options.serve === 'registry') return loadRegistry(this.#root, this.#options.version, signal);
    return this.#options.serve === 'confirmed' ? this.#confirmed.load() : this.#loadFolders(signal);
  }

  async watch(changed: () => void, signal: AbortSignal): Promise<void> {
    const content = {
      everyMs: POLL_MS,
      clock: this.#clock,
      loaded: () => this.#loaded,
      current: () => this.#fingerprint(),
      failed: (error: unknown) =>
        this.#log.warn(
          { err: error },
          'The tool folders could not be checked for changes: they are checked again',
        ),
    };
    await pollContent(content, changed, signal);
  }

  async #loadFolders(signal: AbortSignal): Promise<LoadedTools> {
    const names = await namesIn(this.#root);
    if ('message' in names) return refused(this.#root, names.message);
    const tools: RawDeclaration[] = [];
    const problems: LoadedTools['problems'][number][] = [];
    for (const name of names.folders) {
      signal.throwIfAborted();
      const { folder, tool, problems: found } = await readToolFolder(this.#root, name);
      problems.push(...found);
      if (tool !== undefined) tools.push({ ...tool, baseDir: folder.path });
    }
    return { tools, connections: [], problems };
  }

  /** Of what a load reads. Code is followed by its executor. */
  async #fingerprint(): Promise<string> {
    if (this.#options.serve === 'registry') return hashOf(await readText(join(this.#root, REGISTRY_FILE)));
    if (this.#options.serve === 'confirmed') return droppedFingerprint(this.#root).catch(reasonOf);
    const names = await namesIn(this.#root);
    if ('message' in names) return names.message;
    const folders = await Promise.all(names.folders.map((name) => readFolder(this.#root, name)));
    return hash(
      'sha256',
      JSON.stringify(
        folders.map(({ name, texts, code, faults }) => [name, texts, Object.keys(code), faults]),
      ),
    );
  }
}

async function namesIn(
  root: string,
): Promise<{ readonly folders: readonly string[] } | { readonly message: string }> {
  try {
    const folders = await toolFolders(root);
    // A volume that is not mounted yet looks like this: it must not take the tools away.
    return folders.length === 0 ? { message: EMPTY } : { folders };
  } catch (error) {
    return { message: `${reasonOf(error)}; expected a folder of tool folders` };
  }
}

function refused(file: string, message: string): LoadedTools {
  return { tools: [], connections: [], problems: [{ file, message }] };
}
