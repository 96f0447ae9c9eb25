// What gateway.yaml may say about JavaScript workers: how many threads, how much memory, how long a queue.
import { z } from 'zod';

export interface JavascriptSettings {
  /** Threads that one tenant may hold, for calls that came through a door; steps of calls may take as many again, level by level. */
  readonly workers: number;
  /** Calls in flight in one thread, of tools that say `concurrent: true`. */
  readonly callsPerWorker: number;
  readonly maxCallsPerWorker: number;
  readonly maxQueue: number;
  /** Heap and buffers of one thread, shared ones too, garbage not yet collected included. */
  readonly maxMemoryBytes: number;
  /** Of the arguments with what belongs to them, of a result, and of everything a call reports meanwhile, as JSON text. */
  readonly maxMessageBytes: number;
  readonly startTimeoutMs: number;
}

const MIB = 1024 * 1024;
const whole = (least: number, most: number) => z.number().int().min(least).max(most);

const fields = {
  workers: whole(1, 64)
    .default(4)
    .describe(
      'Threads that one tenant may hold at one time, started when they are needed; one more is kept for a tenant that holds none. Calls that a handler makes to other tools may take as many again on each level.',
    ),
  calls_per_worker: whole(1, 256)
    .default(16)
    .describe(
      'Calls in flight in one thread, all of one tenant and of tools that say `concurrent: true`; of all others it is one.',
    ),
  max_calls_per_worker: whole(1, 10_000_000)
    .default(10_000)
    .describe('Calls after which a thread is replaced.'),
  max_queue: whole(0, 100_000)
    .default(1000)
    .describe(
      'Calls of one tenant that may wait for a thread while no other tenant’s do; of all tenants, twice as many.',
    ),
  max_old_generation_mb: whole(32, 4096)
    .default(128)
    .describe(
      'Memory of one thread in MiB, heap and buffers (shared ones by what they may grow to), looked at many times a second while calls run: a thread above it is ended.',
    ),
  max_message_bytes: whole(1024, 256 * MIB)
    .default(8 * MIB)
    .describe('Largest arguments and largest result, as JSON text.'),
  start_timeout_ms: whole(100, 600_000)
    .default(10_000)
    .describe('Time for a thread to start, and for a module to be imported.'),
};

/** The section `executors.javascript` of gateway.yaml. */
export function javascriptSettingsSchema() {
  return z.strictObject(fields).transform((said): JavascriptSettings => ({
    workers: said.workers,
    callsPerWorker: said.calls_per_worker,
    maxCallsPerWorker: said.max_calls_per_worker,
    maxQueue: said.max_queue,
    maxMemoryBytes: said.max_old_generation_mb * MIB,
    maxMessageBytes: said.max_message_bytes,
    startTimeoutMs: said.start_timeout_ms,
  }));
}
