// What gateway.yaml may say about JavaScript workers: how many threads, how much memory, how long a queue.
import { z } from 'zod';
import { camelKeys } from '../../lib/settings/camel-keys.ts';
import { whole } from '../../lib/settings/whole.ts';

const MIB = 1024 * 1024;
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
  return z.strictObject(fields).transform(({ max_old_generation_mb: mib, ...said }) => ({
    ...camelKeys(said),
    maxMemoryBytes: mib * MIB,
  }));
}

export type JavascriptSettings = z.output<ReturnType<typeof javascriptSettingsSchema>>;
