// ServiceState: what /readyz tells: whether this gateway takes calls, what it does without meanwhile, and what confines tools.
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import type { Degraded } from '../../infra/telemetry/degraded-gauge.ts';
import { missingProcesses, refusingProcess } from '../process/many/joint-readiness.ts';
import type { ProcessState } from '../process/many/messages.ts';
import { partsOf, type Part, type Stores } from './parts.ts';
import { every } from '../../lib/timers/every.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SandboxReport } from '../../ports/egress/sandbox.ts';
import type { ReloadStatus } from '../../ports/registry/registry-control.ts';

export interface ServiceStateNeeds {
  readonly executors: () => JsonObject;
  /** What the gateway does without now. */
  readonly degraded: () => Degraded;
  /** What its settings do without. */
  readonly notes: () => JsonObject;
  readonly stores: Stores;
  /** Of all processes on the same ports, this one included; left out: there are no others. */
  readonly siblings?: (() => readonly ProcessState[]) | undefined;
  /** Whether every call is refused without its audit record, those that only read too. */
  readonly recordsEveryCall: boolean;
}

const LOOK_EVERY_MS = 1_000;

/**
 * Replicas share their database and their Redis: while one of these is away, what can still be served is served, so the
 * gateway stays ready and says what is degraded. A journal that takes no records is this gateway's own trouble.
 */
export class ServiceState {
  #phase: string | undefined = 'starting';
  #sandbox: SandboxReport | undefined;
  #metricsUrl: string | undefined;
  readonly #needs: ServiceStateNeeds;
  readonly executors: () => JsonObject;
  readonly notes: () => JsonObject;

  constructor(needs: ServiceStateNeeds) {
    this.#needs = needs;
    this.executors = needs.executors;
    this.notes = needs.notes;
  }

  ready(): void {
    this.#phase = undefined;
  }

  drain(): void {
    this.#phase = 'draining';
  }

  get isDraining(): boolean {
    return this.#phase === 'draining';
  }

  /** Undefined: ready, as are the other processes: whoever asks reaches any of them. */
  notReady(): string | undefined {
    return this.#ownReason() ?? refusingProcess(this.#needs.siblings?.() ?? []);
  }

  degraded(): Degraded {
    const missing = missingProcesses(this.#needs.siblings?.() ?? []);
    return { ...this.#needs.degraded(), ...(missing !== undefined && { processes: missing }) };
  }

  #ownReason(): string | undefined {
    if (this.#phase !== undefined) return this.#phase;
    return this.#needs.recordsEveryCall ? this.#needs.degraded().audit : undefined;
  }

  parts(): { readonly [name: string]: Part } {
    const { stores } = this.#needs;
    const processes = this.#needs.siblings?.().length;
    return partsOf({
      stores,
      degraded: this.degraded(),
      sandbox: this.#sandbox,
      pythonUnconfined: this.#pythonUnconfined,
      phase: this.#phase,
      processes,
    });
  }

  /** As that executor tells it; one that is not there, or has not settled it, says nothing. */
  get #pythonUnconfined(): boolean {
    const { python } = this.executors();
    return isJsonObject(python) && python['runs_without_sandbox'] === true;
  }

  /**
   * Tells when this process comes to refuse calls, with the reason, and to take them again; a second late at most, until the drain.
   * Where it refuses them from the beginning, that is told at once.
   */
  onChange(
    clock: Clock,
    notify: (reason: string | undefined) => void,
    failed: (error: unknown) => void,
  ): void {
    const first = this.#ownReason();
    let last = first === undefined;
    if (first !== undefined) notify(first);
    const look = () => {
      if (this.isDraining) {
        void looks.stop();
        return;
      }
      const reason = this.#ownReason();
      const isReady = reason === undefined;
      if (isReady !== last) notify(reason);
      last = isReady;
    };
    const looks = every(clock, { ms: LOOK_EVERY_MS }, look, failed);
  }

  showsMetricsAt(url: string): void {
    this.#metricsUrl = url;
  }

  metricsUrl(): string | undefined {
    return this.#metricsUrl;
  }

  confinedBy(report: SandboxReport): void {
    this.#sandbox = report;
  }

  sandbox(): JsonObject | undefined {
    if (this.#sandbox === undefined) return undefined;
    const { backend, memoryLimit, processLimit } = this.#sandbox;
    // A limit that is no cgroup's is one of each process: what a run takes in all may be many times as much.
    const memoryLimitOf = memoryLimit === 'rlimit' ? 'each process' : 'whole run';
    return {
      backend,
      memory_limit: memoryLimit,
      memory_limit_of: memoryLimitOf,
      process_limit: processLimit,
    };
  }
}

/** Anybody may ask /readyz: which sources they are, the reload status tells those who may know. */
export function degradedTools({ warnings }: ReloadStatus): Degraded {
  if (warnings.length === 0) return {};
  const which = `sources of tools that are away: ${warnings.length}`;
  return { tools: `${which}; what is kept of them stays in force (GET /v1/admin/reload names them)` };
}
