// VersionKeeper: definitions that were in force: the last ones in memory, every one in the store, as soon as that takes them.
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import { settledWithin } from '../../lib/timers/settled-within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { NewToolVersion, SpecStore } from '../../ports/registry/spec-store.ts';
import type { CheckedTool } from '../spec-rules.ts';

export interface KeeperDeps {
  readonly store: SpecStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** A definition as it was written, and where its relative paths start. */
export interface Definition {
  readonly contentHash: string;
  readonly document: JsonObject;
  /** Empty: the folder of gateway.yaml. */
  readonly baseDir: string;
}

const HASH = /^[0-9a-f]{64}$/;
/** Superseded definitions in memory: what a call may still pin while the store is away. */
const MOST_REMEMBERED = 500;
/** Waiting for the store: more than any set has. */
const MOST_PENDING = 20_000;
const RETRY_MS = 10_000;
const CLOSE_WITHIN_MS = 1_000;

export class VersionKeeper {
  readonly #deps: KeeperDeps;
  /** Oldest first. */
  readonly #remembered = new Map<string, NewToolVersion>();
  readonly #pending = new Map<string, NewToolVersion>();
  /** What the store is known to have, of the set in force. */
  #recorded: ReadonlySet<string> = new Set();
  #writing: Promise<void> | undefined;
  #disarm: (() => void) | undefined;
  #closed = false;

  constructor(deps: KeeperDeps) {
    this.#deps = deps;
  }

  /** After a load: what is in force, as far as its loaders do not keep it themselves, and what is not any more. */
  taken(inForce: readonly CheckedTool[], superseded: readonly CheckedTool[]): void {
    for (const version of superseded.flatMap(versionOf))
      keep(this.#remembered, keyOf(version), version, MOST_REMEMBERED);
    const versions = new Map(inForce.flatMap(versionOf).map((version) => [keyOf(version), version]));
    this.#recorded = new Set([...this.#recorded].filter((key) => versions.has(key)));
    for (const [key, version] of versions)
      if (!this.#recorded.has(key)) keep(this.#pending, key, version, MOST_PENDING);
    this.#write();
  }

  /** By content hash, or the newest of that name. Rejects where the store would have to be asked and is away. */
  async find(name: string, pin: string): Promise<Definition | undefined> {
    const { store } = this.#deps;
    if (HASH.test(pin)) return this.#remembered.get(`${name} ${pin}`) ?? (await store.version(name, pin));
    const mine = [...this.#remembered.values()].findLast(
      (each) => each.name === name && each.version === pin,
    );
    try {
      return (await store.versionCalled(name, pin)) ?? mine;
    } catch (error) {
      if (mine !== undefined) return mine;
      throw error;
    }
  }

  /** What is still to be written is written, if the store takes it at once. */
  /** What the store has not taken by then is recorded by the next gateway that has it in force. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#disarm?.();
    if (this.#writing !== undefined) await settledWithin(this.#deps.clock, CLOSE_WITHIN_MS, this.#writing);
  }

  #write(): void {
    if (this.#closed || this.#pending.size === 0 || this.#writing !== undefined) return;
    this.#disarm?.();
    this.#writing = this.#writePending().finally(() => {
      this.#writing = undefined;
      if (this.#closed || this.#pending.size === 0) return;
      this.#disarm = this.#deps.clock.after(RETRY_MS, () => this.#write());
    });
  }

  async #writePending(): Promise<void> {
    const batch = new Map(this.#pending);
    try {
      await this.#deps.store.record([...batch.values()]);
      for (const key of batch.keys()) this.#pending.delete(key);
      this.#recorded = new Set([...this.#recorded, ...batch.keys()]);
    } catch (error) {
      this.#deps.log.debug(
        { err: error, versions: batch.size },
        'versions of tools could not be recorded yet',
      );
    }
  }
}

/** As the newest; the oldest goes where there are more than `most`. */
function keep<T>(into: Map<string, T>, key: string, value: T, most: number): void {
  into.delete(key);
  into.set(key, value);
  const [oldest] = into.keys();
  if (into.size > most && oldest !== undefined) into.delete(oldest);
}

function keyOf({ name, contentHash }: NewToolVersion): string {
  return `${name} ${contentHash}`;
}

/** What others define is not ours to run later: its server would have to agree. */
function versionOf({ spec, declaration }: CheckedTool): readonly NewToolVersion[] {
  const { name, contentHash, metadata, baseDir, foreign } = spec;
  const { value } = declaration;
  if (foreign !== undefined || !isJsonObject(value)) return [];
  const told = { name, contentHash, version: metadata.version, baseDir, document: value };
  return [{ ...told, source: 'loader', createdBy: '', note: '' }];
}
