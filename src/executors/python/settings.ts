// What gateway.yaml may say about Python: interpreters, where tools are looked for, how many workers, what they may do.
import { resolve } from 'node:path';
import { z } from 'zod';
import { camelKeys, type CamelKeys } from '../../lib/settings/camel-keys.ts';
import { whole } from '../../lib/settings/whole.ts';

const MIB = 1024 * 1024;

const folders = () => z.array(z.string().min(1)).default([]);
const dottedName = z.string().regex(/^[A-Za-z]\w*(\.[A-Za-z]\w*)*$/, 'must be a module such as billing');

const fields = {
  interpreter: z.string().min(1).default('python3').describe('Program: a name on `path`, or a path.'),
  interpreters: z
    .record(z.string().min(1), z.string().min(1))
    .default({})
    .describe(
      'Further programs by name, e.g. `billing: /opt/venvs/billing/bin/python`; a tool names one. `code`, where it is there, runs what callers write: its packages are those that they may use.',
    ),
  path: z
    .string()
    .min(1)
    .default('/usr/local/bin:/usr/bin:/bin')
    .describe('PATH of the workers; nothing else is inherited.'),
  module_paths: folders().describe(
    'Folders that modules are looked for in. Sandboxed tools see the modules in them, and no other file.',
  ),
  modules: z
    .array(dottedName)
    .default([])
    .describe('Modules of those folders that may be used, submodules included. Empty: all.'),
  when_changed: z
    .enum(['reload', 'refuse'])
    .default('reload')
    .describe('A module file that changed is checked and imported anew, or its tools refuse every call.'),
  sandbox: z
    .enum(['required', 'preferred', 'off'])
    .default('required')
    .describe(
      'Workers run inside the sandbox: always; or, if this machine has one when the gateway starts (never as root); or never.',
    ),
  network: z
    .enum(['none', 'host'])
    .default('none')
    .describe('Network of sandboxed tools; a tool may say otherwise.'),
  readable: folders().describe('Further folders that sandboxed tools may read.'),
  writable: folders().describe('Folders that sandboxed tools may write.'),
  memory_bytes: whole(32 * MIB, 1024 * 1024 * MIB)
    .default(512 * MIB)
    .describe(
      'Memory of each process of a call. A worker and all calls in it have this × (calls_per_worker + 1) together where cgroups can be had, whichever call takes it.',
    ),
  max_processes: whole(1, 10_000).default(64).describe('Processes and threads of sandboxed calls.'),
  workers: whole(1, 64)
    .default(2)
    .describe(
      'Processes per set of folders and modules that one tenant may hold at one time; one more is kept for a tenant that holds none.',
    ),
  calls_per_worker: whole(1, 256)
    .default(8)
    .describe('Calls in flight in one worker, all of one tenant, each in a process of its own.'),
  max_calls_per_worker: whole(1, 10_000_000)
    .default(10_000)
    .describe('Calls after which a worker is replaced.'),
  max_worker_age_ms: whole(1000, 86_400_000)
    .default(10 * 60_000)
    .describe('Age at which a worker is replaced.'),
  max_worker_bytes: whole(32 * MIB, 1024 * 1024 * MIB)
    .default(512 * MIB)
    .describe('Resident memory at which a worker is replaced.'),
  max_queue: whole(0, 100_000)
    .default(1000)
    .describe(
      'Calls of one tenant that may wait for a worker while no other tenant’s do; of all tenants, twice as many.',
    ),
  max_frame_bytes: whole(1024, 256 * MIB)
    .default(8 * MIB)
    .describe('Largest request and largest result, as JSON text.'),
  start_timeout_ms: whole(100, 600_000)
    .default(10_000)
    .describe('Time for an interpreter to start, and again for a module to be imported.'),
};

const schema = z.strictObject(fields);

/** What the fields above say, under their names in camelCase, with absolute folders. */
export type PythonSettings = CamelKeys<z.output<typeof schema>>;
export type SandboxWish = PythonSettings['sandbox'];

export const PYTHON_DEFAULTS: PythonSettings = camelKeys(schema.parse({}));

/** The section `executors.python` of gateway.yaml. Relative folders start at `configDir`. */
export function pythonSettingsSchema(configDir: string) {
  const absolute = (paths: readonly string[]) => paths.map((path) => resolve(configDir, path));
  return schema.transform((said): PythonSettings => ({
    ...camelKeys(said),
    modulePaths: absolute(said.module_paths),
    readable: absolute(said.readable),
    writable: absolute(said.writable),
  }));
}
