// python-module: functions marked with @tool in Python modules, as tools of the python executor.
import { hash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { LoadedTools, Problem, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { Loader, LoaderPlugin } from '../../contract/plugin.ts';
import { pollContent } from '../../lib/files/poll-content.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { describeModules, type DescribeNeeds } from './describe-modules.ts';
import { optionsSchema, type PythonModuleOptions } from './options.ts';
import type { DescribedTool } from './report.ts';
import { PythonFiles } from './source-files.ts';

interface Needs extends DescribeNeeds {
  readonly log: Log;
  /** Absolute folder that relative paths start from. */
  readonly configDir: string;
}

export const pythonModuleLoader: LoaderPlugin<PythonModuleOptions, Needs> = {
  name: 'python-module',
  summary:
    'Makes a python tool of each function marked with @tool in Python modules, and notices their changes.',
  optionsSchema,
  create: (needs) => (options: PythonModuleOptions) => new PythonModuleLoader(options, needs),
};

const POLL_MS = 1_000;

class PythonModuleLoader implements Loader {
  readonly #options: PythonModuleOptions;
  readonly #paths: readonly string[];
  readonly #needs: Needs;
  readonly #log: Log;
  readonly #files: PythonFiles;
  #loaded = '';

  constructor(options: PythonModuleOptions, needs: Needs) {
    this.#options = options;
    this.#paths = options.paths.map((path) => resolve(needs.configDir, path));
    this.#needs = needs;
    this.#log = needs.log.child({ loader: 'python-module' });
    this.#files = new PythonFiles(this.#paths);
  }

  async load(signal: AbortSignal): Promise<LoadedTools> {
    // Taken first: what changes while the modules are read is a change.
    this.#loaded = await this.#files.fingerprint();
    const found = await realFolders(this.#paths);
    if (found.problems.length > 0) return { tools: [], connections: [], problems: found.problems };
    const request = { options: this.#options, paths: found.folders, signal };
    const described = await describeModules(request, this.#needs);
    const [fallback = ''] = this.#paths;
    if ('message' in described)
      return { tools: [], connections: [], problems: [{ file: fallback, message: described.message }] };
    const { tools, problems } = described.report;
    return {
      tools: tools.map(declarationOf),
      connections: [],
      problems: problems.map(({ file = fallback, line, message }): Problem => ({
        file,
        ...(line !== undefined && { line }),
        message,
      })),
    };
  }

  async watch(changed: () => void, signal: AbortSignal): Promise<void> {
    const content = {
      everyMs: POLL_MS,
      clock: this.#needs.clock,
      loaded: () => this.#loaded,
      current: () => this.#files.fingerprint(),
      failed: (error: unknown) =>
        this.#log.warn(
          { err: error },
          'Python modules could not be checked for changes: they are checked again',
        ),
    };
    await pollContent(content, changed, signal);
  }
}

/** Python tells files by their real paths. */
async function realFolders(
  paths: readonly string[],
): Promise<{ readonly folders: readonly string[]; readonly problems: readonly Problem[] }> {
  const folders: string[] = [];
  const problems: Problem[] = [];
  for (const path of paths) {
    const folder = await realpath(path).catch(() => undefined);
    const isFolder = folder !== undefined && (await stat(folder)).isDirectory();
    if (isFolder) folders.push(folder);
    else problems.push({ file: path, message: 'expected a folder of Python modules; there is none here' });
  }
  return { folders, problems };
}

function declarationOf({ spec, folder, file = folder, line }: DescribedTool): RawDeclaration {
  return {
    value: spec,
    contentHash: hash('sha256', JSON.stringify(spec)),
    // The python executor looks for modules beside the declaration.
    baseDir: folder,
    locate: () => ({ file, ...(line !== undefined && { line }) }),
  };
}
