// What gateway.yaml may say about shell tools: the sandbox, the most a tool may use, what it may see.
import { resolve } from 'node:path';
import { z } from 'zod';
import { sandboxFields } from '../../lib/sandbox-settings.ts';
import { limitFields } from './options-schema.ts';
import { whole } from '../../lib/settings/whole.ts';

const MIB = 1 << 20;

const fields = {
  ...sandboxFields,
  readable: z
    .array(z.string().min(1))
    .default([])
    .describe('Folders and files of the host that commands may read and run, at the same place.'),
  max_parallel: whole(1, 256)
    .default(8)
    .describe(
      'Commands that one tenant may run at one time; one more slot is kept for a tenant that runs none.',
    ),
  max_queue: whole(0, 100_000)
    .default(1000)
    .describe(
      'Calls of one tenant that may wait for a slot while no other tenant’s do; of all tenants, twice as many.',
    ),
  limits: z
    .strictObject({
      cpu_seconds: limitFields.cpu_seconds.default(60),
      memory_bytes: limitFields.memory_bytes.default(512 * MIB),
      max_processes: limitFields.max_processes.default(64),
      output_bytes: limitFields.output_bytes.default(MIB),
      file_bytes: limitFields.file_bytes.default(16 * MIB),
      workspace_bytes: limitFields.workspace_bytes.default(64 * MIB),
      collect_bytes: limitFields.collect_bytes.default(2 * MIB),
    })
    .prefault({})
    .describe('The most that a command may use; a tool may ask for less.'),
};

/** The section `executors.shell` of gateway.yaml. Relative paths start at `configDir`. */
export function shellSettingsSchema(configDir: string) {
  return z.strictObject(fields).transform((said) => ({
    maxParallel: said.max_parallel,
    maxQueue: said.max_queue,
    limits: said.limits,
    readable: said.readable.map((path) => resolve(configDir, path)),
  }));
}

export type ShellSettings = z.output<ReturnType<typeof shellSettingsSchema>>;
