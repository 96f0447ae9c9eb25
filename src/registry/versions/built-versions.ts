// BuiltVersions: versions that are not in force, built when a call asks for one and closed when none has for long.
import type { Connection, PreparedFunction } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCompiler } from '../../contract/tool/compiled-tool.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { BorrowedVersion, ToolVersions } from '../../ports/registry/tool-versions.ts';
import { buildTool, type Built, type Executors } from '../build-tool.ts';
import { compileBuilt, type Ready } from '../compile-built.ts';
import { connectionFault } from '../checks/check-connections.ts';
import { checkTool } from '../checks/check-tool.ts';
import { executorsReady } from '../checks/executors-ready.ts';
import { declarationOf } from './pinned-declaration.ts';
import { underPolicyOf } from './pinned-policy.ts';
import type { SpecRules } from '../spec-rules.ts';
import { anyStale } from '../reload/stale-functions.ts';
import type { Definition } from './version-keeper.ts';

export interface BuiltVersionsDeps {
  readonly definitions: { find(name: string, pin: string): Promise<Definition | undefined> };
  readonly connections: () => ReadonlyMap<string, Connection>;
  readonly rules: SpecRules;
  readonly executors: Executors;
  readonly compiler: ToolCompiler;
  readonly configDir: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Versions kept built while no call runs in them. */
const MOST_BUILT = 64;
/** Lookups and builds under way at one time: whoever guesses versions does not take everything. */
const MOST_OPENING = 32;
/** One that was pushed out before its call came to it is looked for again. */
const LOOKS = 3;
/** How soon a version that could not be built is tried again, and changed code is noticed. */
const LOOK_AGAIN_MS = 2_000;
/** How long a version's name stands for what it was found to stand for. */
const NAME_HOLDS_MS = 5_000;
const MOST_NAMES = 1_000;
const HASH = /^[0-9a-f]{64}$/;

interface Entry {
  /** Undefined: it cannot be built. */
  readonly ready: Promise<Ready | undefined>;
  /** When its connection and code were looked at last. */
  checkedAt: number;
  inUse: number;
  retired: boolean;
}

export class BuiltVersions implements ToolVersions {
  readonly #deps: BuiltVersionsDeps;
  /** Least recently used first; by tool, version, and the version whose policy holds. */
  readonly #entries = new Map<string, Entry>();
  readonly #hashes = new Map<string, { readonly contentHash: string; readonly until: number }>();
  /** Looked for and built now: once, however many calls ask. */
  readonly #opening = new Map<string, Promise<void>>();

  constructor(deps: BuiltVersionsDeps) {
    this.#deps = deps;
  }

  async take({ name, spec }: ToolFunction, pin: string): Promise<BorrowedVersion> {
    const entry = await this.#entryOf(spec, pin);
    const release = () => this.#release(entry);
    const ready = await entry.ready;
    const tool = ready?.tools.find((each) => each.function.name === name);
    if (tool !== undefined) return { tool, release };
    release();
    throw ready === undefined
      ? gone('This version of the tool cannot be run any more.')
      : gone('This version of the tool has no such function.');
  }

  /** After the last call. */
  close(): void {
    for (const key of this.#entries.keys()) this.#retire(key);
  }

  #knownHash(name: string, pin: string): string | undefined {
    if (HASH.test(pin)) return pin;
    const found = this.#hashes.get(`${name} ${pin}`);
    return found !== undefined && found.until > this.#deps.clock.now() ? found.contentHash : undefined;
  }

  /** In use from here on. */
  async #entryOf(spec: ToolSpec, pin: string): Promise<Entry> {
    for (let look = 0; look < LOOKS; look += 1) {
      const contentHash = this.#knownHash(spec.name, pin);
      const held = contentHash === undefined ? undefined : await this.#acquire(keyOf(spec, contentHash));
      if (held !== undefined) return held;
      await this.#openOnce(spec, pin);
    }
    throw busy();
  }

  #openOnce(spec: ToolSpec, pin: string): Promise<void> {
    const key = keyOf(spec, pin);
    const running = this.#opening.get(key);
    if (running !== undefined) return running;
    if (this.#opening.size >= MOST_OPENING) return Promise.reject(busy());
    const opening = this.#open(spec, pin).finally(() => this.#opening.delete(key));
    this.#opening.set(key, opening);
    return opening;
  }

  async #open(inForce: ToolSpec, pin: string): Promise<void> {
    const found = await this.#deps.definitions.find(inForce.name, pin);
    if (found === undefined) throw gone('There is no such version of this tool.');
    if (!HASH.test(pin)) this.#noteName(`${inForce.name} ${pin}`, found.contentHash);
    const key = keyOf(inForce, found.contentHash);
    if (this.#entries.has(key)) return;
    const ready = this.#build(inForce, found);
    this.#entries.set(key, { ready, checkedAt: this.#deps.clock.now(), inUse: 0, retired: false });
    this.#evict(key);
    await ready;
  }

  #noteName(key: string, contentHash: string): void {
    if (this.#hashes.size >= MOST_NAMES) this.#hashes.clear();
    this.#hashes.set(key, { contentHash, until: this.#deps.clock.now() + NAME_HOLDS_MS });
  }

  /** One that is built, with connections and code as they are; undefined: it has to be built. */
  async #acquire(key: string): Promise<Entry | undefined> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const now = this.#deps.clock.now();
    const isDue = now - entry.checkedAt >= LOOK_AGAIN_MS;
    if (isDue) entry.checkedAt = now;
    const isOutdated = await this.#isOutdated(entry, isDue);
    if (this.#entries.get(key) !== entry) return undefined;
    this.#entries.delete(key);
    if (isOutdated) {
      this.#discard(entry);
      return undefined;
    }
    this.#entries.set(key, entry);
    entry.inUse += 1;
    return entry;
  }

  async #isOutdated(entry: Entry, isDue: boolean): Promise<boolean> {
    const ready = await entry.ready;
    if (ready === undefined) return isDue;
    const { connectionName } = ready.checked;
    if (connectionName !== undefined && ready.connection !== this.#deps.connections().get(connectionName))
      return true;
    return isDue && anyStale(ready.prepared);
  }

  async #build(inForce: ToolSpec, definition: Definition): Promise<Ready | undefined> {
    const { compiler, log } = this.#deps;
    const told = { tool: inForce.name, contentHash: definition.contentHash };
    try {
      const ready = compileBuilt(await this.#prepare(inForce, definition), compiler);
      if (ready.problem !== undefined) {
        this.#closeAll(ready.prepared);
        throw new Error(ready.problem.message);
      }
      log.info(told, 'an older version of a tool was built for a call');
      return ready;
    } catch (error) {
      log.warn({ ...told, err: error }, 'an older version of a tool cannot be run any more');
      return undefined;
    }
  }

  /** Throws Error with what is wrong with it now. */
  async #prepare(inForce: ToolSpec, definition: Definition): Promise<Built> {
    const { rules, executors, connections, configDir } = this.#deps;
    const declaration = declarationOf(definition, inForce, configDir);
    await executorsReady([declaration], rules);
    const result = checkTool(declaration, rules);
    if ('faults' in result) throw new Error(result.faults[0]?.message);
    const { checked } = result;
    const { connectionName = '', spec } = checked;
    const inUse = { connections: connections(), faulty: new Set<string>() };
    const fault = connectionFault({ ...spec, connectionName: checked.connectionName }, inUse, rules);
    if (fault !== undefined) throw new Error(fault.message);
    const connection = inUse.connections.get(connectionName);
    // What a caller pins is the version it was told of, however this release reads its text.
    const read = { ...spec, contentHash: definition.contentHash };
    const built = await buildTool(checked, connection, executors, underPolicyOf(read, inForce, rules));
    if (built.problem === undefined) return built;
    this.#closeAll(built.prepared);
    throw new Error(built.problem.message);
  }

  #release(entry: Entry): void {
    entry.inUse -= 1;
    if (entry.retired && entry.inUse === 0) this.#end(entry);
    this.#evict();
  }

  #evict(newest?: string): void {
    for (const [key, { inUse }] of this.#entries) {
      if (this.#entries.size <= MOST_BUILT) return;
      if (inUse === 0 && key !== newest) this.#retire(key);
    }
  }

  #retire(key: string): void {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    if (entry !== undefined) this.#discard(entry);
  }

  /** Closed when the last call has left it. */
  #discard(entry: Entry): void {
    entry.retired = true;
    if (entry.inUse === 0) this.#end(entry);
  }

  #end({ ready }: Entry): void {
    void ready.then((built) => built && this.#closeAll(built.prepared));
  }

  #closeAll(prepared: readonly PreparedFunction[]): void {
    for (const fn of prepared) {
      fn.close?.().catch((error: unknown) =>
        this.#deps.log.warn(
          { err: error },
          'a tool that is no longer in force could not be closed: what it holds may leak',
        ),
      );
    }
  }
}

function keyOf({ name, contentHash }: ToolSpec, version: string): string {
  return `${name} ${version} ${contentHash}`;
}

function gone(message: string): ToolFailure {
  return new ToolFailure('NOT_FOUND', message, { reason: 'VERSION_GONE' });
}

function busy(): ToolFailure {
  return new ToolFailure('UNAVAILABLE', 'Too many versions of tools are being looked for.', {
    reason: 'VERSIONS_BUSY',
    retryAfterMs: 1_000,
  });
}
