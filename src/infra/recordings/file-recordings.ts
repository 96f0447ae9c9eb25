// Recordings as files in data_dir/recordings. Failure policy: continue; a recording that cannot be written ends, calls go on.
import { join } from 'node:path';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counter, Gauge, Metrics } from '../../ports/telemetry/metrics.ts';
import type {
  RecordingFacts,
  Recordings,
  RecordingState,
  RecordingWish,
  Take,
} from '../../ports/recordings.ts';
import { RecordingFolder } from './recording-folder.ts';
import { RunningRecording } from './running-recording.ts';
import { FileSeal } from './seal-key.ts';
import { RECORDS_SERIES } from '../../ports/telemetry/series/records.ts';

/** Recordings at the same time. */
const MAX_RUNNING = 16;
/** Of them, of one tenant: the others find space as well. */
const MAX_RUNNING_OF_TENANT = 4;

export interface RecordingsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface RecordingsRules {
  readonly enabled: boolean;
  /** Of all files together. */
  readonly maxTotalBytes: number;
}

export class FileRecordings implements Recordings {
  readonly enabled: boolean;
  readonly #rules: RecordingsRules;
  readonly #deps: RecordingsDeps;
  readonly #folder: RecordingFolder;
  readonly #seal: FileSeal;
  readonly #running = new Map<string, RunningRecording>();
  /** Looked at by every call. */
  #wanting: readonly RunningRecording[] = [];
  readonly #kept: Counter;
  readonly #active: Gauge;
  /** One step at a time: two of one name, or two that share the last space, do not slip past each other. */
  #starting: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, rules: RecordingsRules, deps: RecordingsDeps) {
    this.enabled = rules.enabled;
    this.#rules = rules;
    this.#deps = deps;
    this.#folder = new RecordingFolder(folder);
    this.#seal = new FileSeal(sealPath(folder));
    const { metrics } = deps;
    this.#kept = metrics.counter(RECORDS_SERIES.ute_recorded_calls_total).with();
    this.#active = metrics.gauge(RECORDS_SERIES.ute_recordings_active).with();
  }

  /** Mends what a crash has left. Rejects where the folder cannot be read. */
  static async open(folder: string, rules: RecordingsRules, deps: RecordingsDeps): Promise<FileRecordings> {
    const recordings = new FileRecordings(folder, rules, deps);
    for (const recording of await recordings.#folder.mend())
      deps.log.warn({ recording }, 'a recording that a crash had cut short was ended');
    return recordings;
  }

  get idle(): boolean {
    return this.#wanting.length === 0;
  }

  begin(facts: RecordingFacts): Take | undefined {
    if (this.idle) return undefined;
    const takers = this.#wanting.flatMap((recording) => {
      const order = recording.take(facts);
      return order === undefined ? [] : [{ recording, order }];
    });
    if (takers.length === 0) return undefined;
    const { callId } = facts;
    return {
      keep: (call) => {
        this.#kept.add(takers.length);
        for (let taker = takers.pop(); taker !== undefined; taker = takers.pop())
          taker.recording.keep(callId, { order: taker.order, ...call });
      },
      drop: () => {
        for (const { recording } of takers.splice(0)) recording.drop(callId);
      },
    };
  }

  seal(text: string): string {
    return this.#seal.seal(text);
  }

  start(wish: RecordingWish): Promise<RecordingState> {
    return this.#serially(() => this.#start(wish));
  }

  #serially<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#starting.then(work);
    this.#starting = done.catch(() => undefined);
    return done;
  }

  async find(name: string, of?: string): Promise<RecordingState | undefined> {
    const state = this.#running.get(name)?.state() ?? (await inFolder(() => this.#folder.stateOf(name)));
    return of === undefined || state?.tenantId === of ? state : undefined;
  }

  async list(): Promise<readonly RecordingState[]> {
    const running = [...this.#running.values()].map((recording) => recording.state());
    const names = new Set(running.map(({ name }) => name));
    const finished = (await inFolder(() => this.#folder.finished())).filter(({ name }) => !names.has(name));
    return [...running, ...finished].toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
  }

  stop(name: string, of?: string): Promise<RecordingState | undefined> {
    return this.#serially(async () => {
      if (await this.#isForeign(name, of)) return undefined;
      const recording = this.#running.get(name);
      if (recording === undefined) return this.find(name);
      await recording.stop('stopped');
      return recording.state();
    });
  }

  read(name: string, of?: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#serially(async () => {
      if (await this.#isForeign(name, of)) return undefined;
      const recording = this.#running.get(name);
      return inFolder(async () =>
        this.#folder.stream((await recording?.written()) ?? this.#folder.pathOf(name)),
      );
    });
  }

  remove(name: string, of?: string): Promise<boolean> {
    return this.#serially(async () => {
      if (await this.#isForeign(name, of)) return false;
      await this.#running.get(name)?.stop('stopped');
      return inFolder(() => this.#folder.remove(name));
    });
  }

  /** In turn: between this look and what follows it, nobody begins another one of that name. */
  async #isForeign(name: string, of: string | undefined): Promise<boolean> {
    return of !== undefined && (await this.find(name, of)) === undefined;
  }

  async close(): Promise<void> {
    await this.#starting;
    await Promise.all([...this.#running.values()].map((recording) => recording.stop('shutdown')));
  }

  async #start(wish: RecordingWish): Promise<RecordingState> {
    if (!this.enabled)
      throw refusal('RECORDINGS_OFF', 'Recordings are switched off here (recording.enabled).');
    if (this.#running.size >= MAX_RUNNING)
      throw refusal('RECORDINGS_FULL', `At most ${MAX_RUNNING} recordings may go on at the same time.`);
    const own = [...this.#running.values()].filter((each) => each.wish.tenantId === wish.tenantId);
    if (own.length >= MAX_RUNNING_OF_TENANT)
      throw refusal(
        'RECORDINGS_FULL',
        `At most ${MAX_RUNNING_OF_TENANT} recordings of one tenant may go on at the same time.`,
      );
    const recording = await inFolder(async () => {
      await this.#folder.make();
      if (await this.#folder.has(wish.name)) throw taken();
      await this.#requireSpace(wish);
      return this.#begin(wish);
    });
    this.#running.set(wish.name, recording);
    this.#wanting = [...this.#wanting, recording];
    this.#active.set(this.#running.size);
    this.#deps.log.info({ recording: wish.name }, 'recording calls');
    return recording.state();
  }

  async #requireSpace({ maxBytes }: RecordingWish): Promise<void> {
    const { maxTotalBytes } = this.#rules;
    const promised = [...this.#running.values()].reduce((sum, { wish }) => sum + wish.maxBytes, 0);
    if ((await this.#folder.bytes()) + promised + maxBytes <= maxTotalBytes) return;
    const message = `This recording could need more than is left of the ${maxTotalBytes} bytes for all of them: delete some, or give it fewer max_bytes.`;
    throw refusal('RECORDINGS_FULL', message);
  }

  #begin(wish: RecordingWish): Promise<RunningRecording> {
    const { clock, log } = this.#deps;
    const { name, tenantId, sessionId, tools } = wish;
    const startedAt = new Date(clock.wall()).toISOString();
    const head = { name, startedAt, sealId: this.#seal.id, tenantId, sessionId, tools };
    return RunningRecording.start(wish, head, this.#folder.placeOf(name), {
      clock,
      ended: (recording) => {
        this.#wanting = this.#wanting.filter((each) => each !== recording);
        const { ended, calls, missed } = recording.state();
        log.info({ recording: name, ended, calls, missed }, 'the recording has ended');
      },
      closed: (recording) => {
        if (this.#running.get(name) === recording) this.#running.delete(name);
        this.#active.set(this.#running.size);
      },
      failed: (err) => log.error({ recording: name, err }, 'a recording cannot be written and has ended'),
    });
  }
}

export function sealPath(folder: string): string {
  return join(folder, 'seal.key');
}

async function inFolder<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolFailure) throw error;
    const message = 'Recordings cannot be kept or read: the data directory does not allow it.';
    throw toolFailure('RECORDINGS_UNAVAILABLE', message, { retryable: false, cause: error });
  }
}

function refusal(reason: 'RECORDINGS_OFF' | 'RECORDINGS_FULL', message: string): ToolFailure {
  return toolFailure(reason, message, { retryable: false });
}

function taken(): ToolFailure {
  return toolFailure('RECORDING_EXISTS', 'There is a recording of this name already.');
}
