// ToolSpecRegistry: holds the snapshot in force, lends it to calls, and closes what only superseded ones used.
import { createHash } from 'node:crypto';
import { atOnce } from '../lib/concurrency/in-slices.ts';
import { assigningProviderNames } from '../lib/text/provider-names.ts';
import type { CompiledTool } from '../contract/tool/compiled-tool.ts';
import type { RegistrySnapshot } from '../contract/tool/registry-snapshot.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import type { ToolSet } from '../contract/tool/tool-set.ts';
import type { ToolSpec } from '../contract/tool/tool-spec.ts';
import type { SnapshotSource } from '../ports/registry/snapshot-source.ts';
import type { ToolCatalog } from '../ports/registry/tool-catalog.ts';

/** Tools that are looked at between two turns of everything else. */
const SLICE = 256;

/** A snapshot with the number of calls that still use it, and what to close after the last of them. */
interface Held {
  readonly snapshot: RegistrySnapshot;
  inFlight: number;
  retired: () => void;
}

export class ToolSpecRegistry implements ToolCatalog, SnapshotSource {
  #current: Held = { snapshot: snapshotOf([], []), inFlight: 0, retired: nothing };
  /** Oldest first. */
  readonly #superseded: Held[] = [];
  readonly #listeners = new Set<(snapshot: RegistrySnapshot) => void>();
  readonly #disabled = new Set<string>();

  snapshot(): RegistrySnapshot {
    return this.#current.snapshot;
  }

  enter(held: ToolSet = this.#current.snapshot): RegistrySnapshot {
    const lent = this.#find(held) ?? this.#current;
    lent.inFlight += 1;
    return lent.snapshot;
  }

  leave(snapshot: ToolSet): void {
    const held = this.#find(snapshot);
    if (held === undefined) return;
    held.inFlight -= 1;
    this.#closeIdle();
  }

  /** Puts a new snapshot in force for calls to come. `retired` runs when no call of an earlier one is left. */
  publish(snapshot: RegistrySnapshot, retired: () => void = nothing): void {
    const previous = this.#current;
    previous.retired = retired;
    this.#superseded.push(previous);
    this.#current = { snapshot, inFlight: 0, retired: nothing };
    this.#closeIdle();
    this.#tell();
  }

  /** The kill switch: overrides everything, at once, for this process. False: there is no such tool. */
  setDisabled(toolName: string, disabled: boolean): boolean {
    if (!this.#current.snapshot.specs.some((spec) => spec.name === toolName)) return false;
    if (disabled) this.#disabled.add(toolName);
    else this.#disabled.delete(toolName);
    this.#tell();
    return true;
  }

  isDisabled(toolName: string): boolean {
    return this.#disabled.has(toolName);
  }

  onChange(listener: (snapshot: RegistrySnapshot) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #find(snapshot: ToolSet): Held | undefined {
    if (snapshot === this.#current.snapshot) return this.#current;
    return this.#superseded.find((candidate) => candidate.snapshot === snapshot);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener(this.#current.snapshot);
  }

  /** Strictly oldest first: what a snapshot retired may still be in use by one before it. */
  #closeIdle(): void {
    while (this.#superseded[0]?.inFlight === 0) this.#superseded.shift()?.retired();
  }
}

export function snapshotOf(specs: readonly ToolSpec[], tools: readonly CompiledTool[]): RegistrySnapshot {
  return atOnce(makingSnapshot(specs, tools));
}

/** Freezes specs and their compiled functions into a snapshot. Equal content gives an equal version, in any order. */
export function* makingSnapshot(
  specs: readonly ToolSpec[],
  tools: readonly CompiledTool[],
): Generator<void, RegistrySnapshot> {
  const own = new Map<string, CompiledTool>();
  for (const [at, tool] of tools.entries()) {
    if (at % SLICE === 0) yield;
    own.set(tool.function.name, tool);
  }
  const names = [...own.keys()].toSorted();
  yield;
  const providerNames = yield* assigningProviderNames(names);
  const byName = new Map<string, CompiledTool>();
  const functions: ToolFunction[] = [];
  const onTrial = new Set<string | undefined>();
  for (const [at, { canary }] of specs.entries()) {
    if (at % SLICE === 0) yield;
    onTrial.add(canary?.tool);
  }
  for (const [at, name] of names.entries()) {
    if (at % SLICE === 0) yield;
    const tool = own.get(name);
    if (tool === undefined) continue;
    // Own names win over another's provider spelling.
    const spelling = providerNames.get(name) ?? name;
    if (!own.has(spelling)) byName.set(spelling, tool);
    byName.set(name, tool);
    if (!onTrial.has(tool.function.spec.name)) functions.push(tool.function);
  }
  yield;
  const contentHash = yield* hashingSpecs(specs);
  return Object.freeze({
    version: `1.0.${contentHash.slice(0, 8)}`,
    contentHash,
    specs,
    functions,
    find: (name: string) => byName.get(name),
    providerName: (name: string) => providerNames.get(name) ?? name,
  });
}

/** sha256 of a set, in any order. No two specs of a set have one name, and what names are made of sorts behind the space. */
function* hashingSpecs(specs: readonly ToolSpec[]): Generator<void, string> {
  const hashes = new Map<string, string>();
  for (const [at, { name, contentHash }] of specs.entries()) {
    if (at % SLICE === 0) yield;
    hashes.set(name, contentHash);
  }
  const names = [...hashes.keys()].toSorted();
  yield;
  const content = createHash('sha256');
  for (const [at, name] of names.entries()) {
    if (at % SLICE === 0) yield;
    content.update(`${at === 0 ? '' : '\n'}${name} ${hashes.get(name)}`);
  }
  return content.digest('hex');
}

function nothing(): void {}
