// ReplicaAgreement: tells the other replicas what this one holds, listens to them, and loads again where they differ.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import { pause } from '../../lib/timers/pause.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge, Metrics } from '../../ports/telemetry/metrics.ts';
import type { RegistryControl } from '../../ports/registry/registry-control.ts';
import {
  REPLICA_LIFE_MS,
  type RegistryHints,
  type ReplicaState,
  type SeenReplica,
} from '../../ports/registry/registry-hints.ts';
import type { ReplicaView } from '../../ports/registry/replica-view.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';

export interface AgreementDeps {
  readonly hints: RegistryHints;
  readonly registry: ToolCatalog;
  readonly control: Pick<RegistryControl, 'reload'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random: () => number;
}

const HEARTBEAT_MS = 5_000;
/** Replicas that hear of a change together do not ask its source together. */
const SPREAD_MS = 500;
/** However often others change. */
const LEAST_GAP_MS = 1_000;

export class ReplicaAgreement implements ReplicaView {
  readonly id = `${hostname().slice(0, 100)}-${randomBytes(4).toString('hex')}`;
  readonly #deps: AgreementDeps;
  readonly #count: Gauge;
  readonly #disagreement: Gauge;
  readonly #stopping = new AbortController();
  /** Of others, a load was tried for since our own set last changed. */
  readonly #chased = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  #self: ReplicaState;
  #snapshot: ToolSet | undefined;
  #others = new Map<string, SeenReplica>();
  #lastChaseAt = -Infinity;
  #chasing = false;

  constructor(deps: AgreementDeps) {
    const { metrics } = deps;
    this.#deps = deps;
    this.#self = { id: this.id, version: '', hash: '' };
    this.#count = metrics.gauge(TOOLS_SERIES.ute_replicas).with();
    this.#disagreement = metrics.gauge(TOOLS_SERIES.ute_registry_disagreement).with();
  }

  /** After the first load. */
  start(): void {
    const { registry, hints } = this.#deps;
    this.#take(registry.snapshot());
    const ends = [
      registry.onChange((snapshot) => this.#onChange(snapshot)),
      hints.onHint((state) => this.#onHint(state)),
    ];
    this.#stopping.signal.addEventListener('abort', () => ends.forEach((end) => end()), { once: true });
    this.#run(this.#beat());
    this.#run(hints.announce(this.#self));
  }

  async stop(): Promise<void> {
    if (this.#self.hash === '') return;
    this.#stopping.abort();
    await Promise.allSettled(this.#running);
    await this.#deps.hints.leave(this.id).catch(() => undefined);
  }

  replicas(): readonly SeenReplica[] {
    const own = { ...this.#self, seenAt: this.#deps.clock.wall() };
    return [own, ...this.#others.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  agree(): boolean {
    for (const { hash } of this.#others.values()) if (hash !== this.#self.hash) return false;
    return true;
  }

  async #beat(): Promise<void> {
    const { clock, random } = this.#deps;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#heartbeat();
      await pause(clock, HEARTBEAT_MS * (0.9 + 0.1 * random()), signal);
    }
  }

  /** While the hints are away, what was known stays for a while: that they are is told by their own log. */
  async #heartbeat(): Promise<void> {
    const seen = await this.#deps.hints.heartbeat(this.#self).catch(() => undefined);
    if (seen === undefined) return this.#forgetSilent();
    this.#others = new Map(seen.filter(({ id }) => id !== this.id).map((each) => [each.id, each]));
    this.#compare();
  }

  #forgetSilent(): void {
    const now = this.#deps.clock.wall();
    for (const [id, { seenAt }] of this.#others) {
      // Its time is another clock's: a few seconds more or less do no harm.
      if (Math.abs(now - seenAt) > 2 * REPLICA_LIFE_MS) this.#others.delete(id);
    }
    this.#tell();
  }

  #onChange(snapshot: ToolSet): void {
    if (snapshot === this.#snapshot) return;
    const before = this.#self.hash;
    this.#take(snapshot);
    if (this.#self.hash === before) return;
    this.#chased.clear();
    this.#tell();
    this.#run(this.#deps.hints.announce(this.#self));
    this.#run(this.#heartbeat());
  }

  #onHint(state: ReplicaState): void {
    if (state.id === this.id || this.#stopping.signal.aborted) return;
    this.#others.set(state.id, { ...state, seenAt: this.#deps.clock.wall() });
    this.#chased.delete(state.hash);
    this.#compare();
  }

  #take(snapshot: ToolSet): void {
    this.#snapshot = snapshot;
    this.#self = { id: this.id, version: snapshot.version, hash: snapshot.contentHash };
  }

  #compare(): void {
    this.#tell();
    const others = [...this.#others.values()].map(({ hash }) => hash);
    const news = others.filter((hash) => hash !== this.#self.hash && !this.#chased.has(hash));
    if (news.length > 0 && !this.#chasing) this.#run(this.#chase());
  }

  #tell(): void {
    this.#count.set(1 + this.#others.size);
    this.#disagreement.set(this.agree() ? 0 : 1);
  }

  /** Others hold something else: perhaps our sources have it by now. Once for each set that we do not come to hold. */
  async #chase(): Promise<void> {
    const { clock, control, random } = this.#deps;
    this.#chasing = true;
    const gap = Math.max(0, this.#lastChaseAt + LEAST_GAP_MS - clock.now());
    await pause(clock, gap + random() * SPREAD_MS, this.#stopping.signal);
    this.#lastChaseAt = clock.now();
    for (const { hash } of this.#others.values()) this.#chased.add(hash);
    if (!this.#stopping.signal.aborted && !this.agree()) await control.reload();
    this.#chasing = false;
    if (!this.#stopping.signal.aborted) this.#compare();
  }

  #run(task: Promise<void>): void {
    const running = task
      .catch((error: unknown) => this.#deps.log.debug({ err: error }, 'the other replicas were not told'))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}
