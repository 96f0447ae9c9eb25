// A registry over one loader, and others if a test wants them, with a log that is written as the gateway's is, and a clock that is watched.
import { inspect } from 'node:util';
import { specRules } from '../../src/app/gateway/registry-rules.ts';
import type { Executor, Loader } from '../../src/contract/plugin.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { JsonLog } from '../../src/infra/telemetry/json-log.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Log } from '../../src/ports/telemetry/log.ts';
import { LoadError, RegistrySync } from '../../src/registry/reload/registry-sync.ts';
import { ToolSpecRegistry } from '../../src/registry/tool-spec-registry.ts';
import { looksOnly } from './call-kit.ts';
import { RecordingMetrics } from './python-ports.ts';

/** Real time, and how many of its timers are pending. */
export class CountingClock implements Clock {
  readonly #clock = new SystemClock();
  pending = 0;

  now(): number {
    return this.#clock.now();
  }

  wall(moment?: number): number {
    return this.#clock.wall(moment);
  }

  after(ms: number, task: () => void): () => void {
    this.pending += 1;
    let isPending = true;
    const end = () => {
      if (isPending) this.pending -= 1;
      isPending = false;
    };
    const cancel = this.#clock.after(ms, () => {
      end();
      task();
    });
    return () => {
      end();
      cancel();
    };
  }
}

/** What loaders of a test are made with, besides what each has for itself. */
export interface BenchNeeds {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: RecordingMetrics;
}

/** Nothing is called here: loading is what is looked at. */
const idle: Executor<unknown> = {
  prepare: () => ({ execute: () => Promise.reject(new Error('nothing is called here')) }),
};

export class RegistryBench {
  readonly clock = new CountingClock();
  readonly metrics = new RecordingMetrics();
  readonly loader: Loader;
  readonly sync: RegistrySync;
  readonly #registry = new ToolSpecRegistry();
  readonly log: JsonLog;
  #written = '';

  constructor(type: string, create: (needs: BenchNeeds) => Loader, ...beside: readonly Loader[]) {
    const destination = {
      write: (line: string) => void (this.#written += line),
      flush: (done: () => void) => done(),
    };
    this.log = JsonLog.create({ level: 'debug', destination });
    const { clock, log, metrics } = this;
    this.loader = create({ clock, log, metrics });
    const rules = specRules();
    this.sync = new RegistrySync({
      registry: this.#registry,
      loaders: [this.loader, ...beside].map((loader, at) => ({ type: at === 0 ? type : 'beside', loader })),
      rules,
      executors: new Map([...rules.executors.keys()].map((name) => [name, idle])),
      compiler: looksOnly,
      degraded: metrics.gauge({ name: 'ute_degraded' }).with('tools'),
      clock,
      log,
      metrics,
    });
  }

  names(): readonly string[] {
    return this.#registry
      .snapshot()
      .specs.map(({ name }) => name)
      .toSorted();
  }

  /** The first load alone; its refusal is an answer. */
  async start(): Promise<LoadError | undefined> {
    try {
      await this.sync.start();
      return undefined;
    } catch (error) {
      if (error instanceof LoadError) return error;
      throw error;
    }
  }

  /** All that an operator can read of it. */
  async told(): Promise<string> {
    await this.log.flush();
    return [
      this.#written,
      inspect(this.sync.status(), { depth: Infinity }),
      ...this.metrics.values.keys(),
    ].join('\n');
  }

  stop(): Promise<void> {
    return this.sync.stop();
  }
}
