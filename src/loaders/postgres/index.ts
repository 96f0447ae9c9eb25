// postgres: tools out of the gateway's own database, changed by REST while it runs, on PostgreSQL: the embedded one, or another.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import type { LoadedTools, Problem, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { Draft, Loader, LoaderPlugin } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { pollContent } from '../../lib/files/poll-content.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Heads, SpecReader } from '../../ports/registry/spec-store.ts';
import { documentFaults } from './document-faults.ts';
import { optionsSchema, type PostgresLoaderOptions } from './options.ts';

interface Needs {
  readonly specs: SpecReader;
  readonly clock: Clock;
  readonly log: Log;
  /** Absolute folder that relative paths start from. */
  readonly configDir: string;
}

export const postgresLoader: LoaderPlugin<PostgresLoaderOptions, Needs> = {
  name: 'postgres',
  summary: "Reads tools from the gateway's own database, where REST keeps and versions them.",
  optionsSchema,
  needsNetwork: () => true,
  create: (needs) => (options: PostgresLoaderOptions) => new PostgresLoader(options, needs),
};

/** Looks of many replicas spread over the last fifth of the interval. */
const JITTER = 0.2;
const NOTHING_LOADED = 'nothing';
const SOURCE = 'database';

interface Kept {
  readonly declaration: RawDeclaration;
  readonly problems: readonly Problem[];
}

class PostgresLoader implements Loader {
  readonly #options: PostgresLoaderOptions;
  readonly #needs: Needs;
  readonly #log: Log;
  /** By name and hash: a version never changes, so it is judged once. */
  #kept = new Map<string, Kept>();
  #good: LoadedTools | undefined;
  #offered: LoadedTools | undefined;
  #loaded = NOTHING_LOADED;
  #isAway = false;

  constructor(options: PostgresLoaderOptions, needs: Needs) {
    this.#options = options;
    this.#needs = needs;
    this.#log = needs.log.child({ loader: 'postgres' });
  }

  async load(): Promise<LoadedTools> {
    let state: Heads;
    try {
      state = await this.#needs.specs.heads();
    } catch (error) {
      return this.#without(error);
    }
    this.#tellAway(undefined);
    this.#loaded = String(state.generation);
    const kept = new Map<string, Kept>();
    for (const head of state.heads.filter(({ enabled }) => enabled)) {
      const key = `${head.name} ${head.contentHash}`;
      kept.set(key, this.#kept.get(key) ?? this.#judge(head.name, head.document));
    }
    this.#kept = kept;
    this.#offered = this.#together([...kept.values()]);
    return this.#offered;
  }

  taken(): void {
    this.#good = this.#offered ?? this.#good;
  }

  async watch(changed: () => void, signal: AbortSignal): Promise<void> {
    const { clock, specs } = this.#needs;
    const content = {
      everyMs: this.#options.interval,
      clock: {
        after: (ms: number, task: () => void) => clock.after(ms * (1 - JITTER * Math.random()), task),
      },
      loaded: () => this.#loaded,
      current: async () => {
        const generation = await specs.generation();
        this.#tellAway(undefined);
        return String(generation);
      },
      failed: (error: unknown) => this.#tellAway(error),
    };
    await pollContent(content, changed, signal);
  }

  async draft(tool: JsonObject & { readonly name: string }): Promise<Draft> {
    const { generation, heads } = await this.#needs.specs.heads();
    const { name } = tool;
    const others = heads.filter((head) => head.enabled && head.name !== name);
    const own = this.#judge(name, tool);
    const loaded = this.#together([...others.map((head) => this.#judge(head.name, head.document)), own]);
    return { loaded, declaration: own.declaration, generation };
  }

  #judge(name: string, document: JsonObject): Kept {
    const declaration = this.#declare(name, document);
    const problems = documentFaults(document, this.#options).map(({ path, message }): Problem => ({
      ...declaration.locate(path),
      tool: name,
      path: path.join('.'),
      message,
    }));
    return { declaration, problems };
  }

  /** There are no lines: the tool and the path tell the place. */
  #declare(name: string, document: JsonObject): RawDeclaration {
    const file = `${SOURCE}:${name}`;
    return {
      value: document,
      contentHash: hash('sha256', `${file}\n${JSON.stringify(document)}`),
      baseDir: this.#needs.configDir,
      locate: () => ({ file }),
    };
  }

  #together(kept: readonly Kept[]): LoadedTools {
    const { max_tools: most } = this.#options;
    const message = `holds ${kept.length} tools; max_tools is ${most}`;
    const excess = kept.length > most ? [{ file: SOURCE, message }] : [];
    return {
      tools: kept.map(({ declaration }) => declaration),
      connections: [],
      problems: [...excess, ...kept.flatMap(({ problems }) => problems)],
    };
  }

  /** The database is away: what it brought last stays. */
  #without(error: unknown): LoadedTools {
    const why = error instanceof ToolFailure ? 'cannot be reached' : String(error);
    this.#tellAway(error);
    // Whatever its state is when it comes back, it is loaded.
    this.#loaded = NOTHING_LOADED;
    this.#offered = undefined;
    if (this.#good === undefined)
      return { tools: [], connections: [], problems: [{ file: SOURCE, message: why }] };
    const warning: Problem = { file: SOURCE, message: `${why}; the tools of the last load stay in force` };
    return { ...this.#good, warnings: [warning] };
  }

  #tellAway(error: unknown): void {
    const isAway = error !== undefined;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    if (isAway)
      this.#log.warn({ err: causeOf(error), degraded: true }, 'the tools in the database cannot be read');
    else this.#log.info({}, 'the tools in the database can be read again');
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof ToolFailure ? (error.cause ?? error) : error;
}
