// postgres: tools out of the gateway's own database, changed by REST while it runs, on PostgreSQL: the embedded one, or another.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import type { LoadedTools, Problem, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { Draft, Loader, LoaderPlugin } from '../../contract/plugin.ts';
import { SourceAway } from '../../contract/tool/source-away.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { abortable } from '../../lib/concurrency/abortable.ts';
import { AWAY, pollContent } from '../../lib/files/poll-content.ts';
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
const SOURCE = 'database';

interface Kept {
  readonly declaration: RawDeclaration;
  readonly problems: readonly Problem[];
}

class PostgresLoader implements Loader {
  readonly source = SOURCE;
  readonly #options: PostgresLoaderOptions;
  readonly #needs: Needs;
  /** By name and hash: a version never changes, so it is judged once. */
  #kept = new Map<string, Kept>();
  #loaded = AWAY;

  constructor(options: PostgresLoaderOptions, needs: Needs) {
    this.#options = options;
    this.#needs = needs;
  }

  async load(signal: AbortSignal): Promise<LoadedTools> {
    signal.throwIfAborted();
    const state = await abortable(this.#heads(), signal);
    this.#loaded = String(state.generation);
    const kept = new Map<string, Kept>();
    for (const head of state.heads.filter(({ enabled }) => enabled)) {
      const key = `${head.name} ${head.contentHash}`;
      kept.set(key, this.#kept.get(key) ?? this.#judge(head.name, head.document));
    }
    this.#kept = kept;
    return this.#together([...kept.values()]);
  }

  async watch(changed: () => void, signal: AbortSignal): Promise<void> {
    const { clock, log, specs } = this.#needs;
    const content = {
      everyMs: this.#options.interval,
      clock: {
        after: (ms: number, task: () => void) => clock.after(ms * (1 - JITTER * Math.random()), task),
      },
      loaded: () => this.#loaded,
      current: () => specs.generation().then(String, () => AWAY),
      failed: (error: unknown) => log.warn({ err: error }, 'looking for changed tools failed'),
    };
    await pollContent(content, changed, signal);
  }

  /** Throws SourceAway. */
  async #heads(): Promise<Heads> {
    try {
      return await this.#needs.specs.heads();
    } catch (error) {
      // Whatever its state is when it comes back, it is loaded.
      this.#loaded = AWAY;
      const why = error instanceof ToolFailure ? 'cannot be reached' : String(error);
      throw new SourceAway(why, { cause: causeOf(error) });
    }
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
}

function causeOf(error: unknown): unknown {
  return error instanceof ToolFailure ? (error.cause ?? error) : error;
}
