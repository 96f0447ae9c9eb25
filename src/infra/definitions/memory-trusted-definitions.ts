// MemoryTrustedDefinitions: the agreed definitions of this process. Where they are to outlive it, `keep` writes them to disk
// before they count.
import type { Clock } from '../../ports/clock.ts';
import {
  DEFINITION_STATES,
  type ApprovalOutcome,
  type DefinitionListing,
  type TrustedDefinitions,
  type DefinitionRecord,
} from '../../ports/registry/trusted-definitions.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge, Metrics } from '../../ports/telemetry/metrics.ts';
import { afterListing, approved, type PinnedServer } from './pinned-server.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';

export interface TrustedDefinitionsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

type Keep = (servers: readonly PinnedServer[]) => Promise<void>;

export class MemoryTrustedDefinitions implements TrustedDefinitions {
  readonly #deps: TrustedDefinitionsDeps;
  readonly #keep: Keep | undefined;
  readonly #servers: Map<string, PinnedServer>;
  /** Servers of this process's loaders; a file may know others, too. */
  readonly #inUse = new Set<string>();
  readonly #gauges: readonly (readonly [string, Gauge])[];
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: TrustedDefinitionsDeps, kept: readonly PinnedServer[] = [], keep?: Keep) {
    this.#deps = deps;
    this.#keep = keep;
    this.#servers = new Map(kept.map((each) => [each.server, each]));
    const gauge = deps.metrics.gauge(TOOLS_SERIES.ute_tool_definitions);
    this.#gauges = DEFINITION_STATES.map((state) => [state, gauge.with(state)]);
  }

  async of(server: string): Promise<readonly DefinitionRecord[] | undefined> {
    this.#inUse.add(server);
    this.#count();
    return this.#servers.get(server)?.records;
  }

  record(listing: DefinitionListing): Promise<readonly DefinitionRecord[]> {
    return this.#serially(async () => {
      this.#inUse.add(listing.server);
      const after = afterListing(this.#servers.get(listing.server), listing, this.#deps.clock.wall());
      await this.#put(after);
      return after.records;
    });
  }

  async list(): Promise<readonly DefinitionRecord[]> {
    const all = [...this.#inUse].flatMap((server) => this.#servers.get(server)?.records ?? []);
    return all.toSorted((a, b) => (a.tool < b.tool ? -1 : 1));
  }

  approve(tool: string, hash: string, by: string): Promise<ApprovalOutcome> {
    return this.#serially(async () => {
      const record = (await this.list()).find((each) => each.tool === tool);
      const server = record && this.#servers.get(record.server);
      if (record === undefined || server === undefined) return { approved: false, why: 'unknown' };
      const { seen, pinned, state } = record;
      if (state === 'pinned' && pinned?.hash === hash) return { approved: true, record };
      if (seen !== undefined && 'refused' in seen) return { approved: false, why: 'refused' };
      if (seen?.hash !== hash) return { approved: false, why: 'other' };
      const now = approved(record, { ...seen, at: this.#deps.clock.wall(), by });
      await this.#put({ ...server, records: server.records.map((each) => (each === record ? now : each)) });
      this.#deps.log.warn(
        { tool, server: record.server, was: state, hash, by },
        'definition of a tool approved',
      );
      return { approved: true, record: now };
    });
  }

  /** One change after the other: each starts from what the one before has kept. */
  #serially<T>(change: () => Promise<T>): Promise<T> {
    const next = this.#last.then(change);
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #put(after: PinnedServer): Promise<void> {
    const before = this.#servers.get(after.server);
    const next = new Map(this.#servers).set(after.server, after);
    if (JSON.stringify(before) !== JSON.stringify(after)) await this.#keep?.([...next.values()]);
    this.#servers.set(after.server, after);
    this.#count();
  }

  #count(): void {
    const counts = new Map<string, number>();
    for (const server of this.#inUse) {
      for (const { state } of this.#servers.get(server)?.records ?? [])
        counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    for (const [state, gauge] of this.#gauges) gauge.set(counts.get(state) ?? 0);
  }
}
