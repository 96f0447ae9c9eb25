// What gateway.yaml may say about Python: interpreters, where tools are looked for, how many workers, what they may do.
import { resolve } from 'node:path';
import { z } from 'zod';

export type SandboxWish = 'required' | 'preferred' | 'off';

export interface PythonSettings {
  /** The program: a name that is looked up on `path`, or a path. */
  readonly interpreter: string;
  /** Other interpreters that a tool may name, such as those of virtual environments. */
  readonly interpreters: { readonly [name: string]: string };
  /** PATH of the workers; nothing else of the gateway's environment reaches them. */
  readonly path: string;
  /** Absolute folders that tools' modules are looked for in, before the folder of the tool's own file. */
  readonly modulePaths: readonly string[];
  /** Modules of those folders that may be used; empty: all of them. */
  readonly modules: readonly string[];
  /** What a changed module file means for tools that were loaded before. */
  readonly whenChanged: 'reload' | 'refuse';
  readonly sandbox: SandboxWish;
  /** What a sandboxed tool reaches unless it says otherwise. */
  readonly network: 'none' | 'host';
  /** Absolute folders outside module_paths that sandboxed tools may read, and those that they may write. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Memory of each process of a call; processes of all calls of a worker. */
  readonly memoryBytes: number;
  readonly maxProcesses: number;
  /** Processes per set of folders and modules that one tenant may hold; there is one more for a tenant that holds none. */
  readonly workers: number;
  /** Calls in flight in one worker. */
  readonly callsPerWorker: number;
  /** After so many calls, so much time, or at such a size a worker is replaced by a fresh one. */
  readonly maxCallsPerWorker: number;
  readonly maxWorkerAgeMs: number;
  readonly maxWorkerBytes: number;
  /** Calls of one tenant that may wait for a worker; one more is refused at once. */
  readonly maxQueue: number;
  /** Largest request and largest result, as JSON text. */
  readonly maxFrameBytes: number;
  /** Time for an interpreter to start, and again for a module to be imported. */
  readonly startTimeoutMs: number;
}

const MIB = 1024 * 1024;

export const PYTHON_DEFAULTS: PythonSettings = {
  interpreter: 'python3',
  interpreters: {},
  path: '/usr/local/bin:/usr/bin:/bin',
  modulePaths: [],
  modules: [],
  whenChanged: 'reload',
  sandbox: 'required',
  network: 'none',
  readable: [],
  writable: [],
  memoryBytes: 512 * MIB,
  maxProcesses: 64,
  workers: 2,
  callsPerWorker: 8,
  maxCallsPerWorker: 10_000,
  maxWorkerAgeMs: 10 * 60_000,
  maxWorkerBytes: 512 * MIB,
  maxQueue: 1000,
  maxFrameBytes: 8 * MIB,
  startTimeoutMs: 10_000,
};

const whole = (least: number, most: number) => z.number().int().min(least).max(most);
const folders = () => z.array(z.string().min(1)).default([]);
const dottedName = z.string().regex(/^[A-Za-z]\w*(\.[A-Za-z]\w*)*$/, 'must be a module such as billing');

const fields = {
  interpreter: z
    .string()
    .min(1)
    .default(PYTHON_DEFAULTS.interpreter)
    .describe('Program: a name on `path`, or a path.'),
  interpreters: z
    .record(z.string().min(1), z.string().min(1))
    .default({})
    .describe('Further programs by name, e.g. `billing: /opt/venvs/billing/bin/python`; a tool names one.'),
  path: z
    .string()
    .min(1)
    .default(PYTHON_DEFAULTS.path)
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
    .default(PYTHON_DEFAULTS.memoryBytes)
    .describe(
      'Memory of each process of a call. A worker and all calls in it have this × (calls_per_worker + 1) together where cgroups can be had, whichever call takes it.',
    ),
  max_processes: whole(1, 10_000)
    .default(PYTHON_DEFAULTS.maxProcesses)
    .describe('Processes and threads of sandboxed calls.'),
  workers: whole(1, 64)
    .default(PYTHON_DEFAULTS.workers)
    .describe(
      'Processes per set of folders and modules that one tenant may hold at one time; one more is kept for a tenant that holds none.',
    ),
  calls_per_worker: whole(1, 256)
    .default(PYTHON_DEFAULTS.callsPerWorker)
    .describe('Calls in flight in one worker, all of one tenant, each in a process of its own.'),
  max_calls_per_worker: whole(1, 10_000_000)
    .default(PYTHON_DEFAULTS.maxCallsPerWorker)
    .describe('Calls after which a worker is replaced.'),
  max_worker_age_ms: whole(1000, 86_400_000)
    .default(PYTHON_DEFAULTS.maxWorkerAgeMs)
    .describe('Age at which a worker is replaced.'),
  max_worker_bytes: whole(32 * MIB, 1024 * 1024 * MIB)
    .default(PYTHON_DEFAULTS.maxWorkerBytes)
    .describe('Resident memory at which a worker is replaced.'),
  max_queue: whole(0, 100_000)
    .default(PYTHON_DEFAULTS.maxQueue)
    .describe(
      'Calls of one tenant that may wait for a worker while no other tenant’s do; of all tenants, twice as many.',
    ),
  max_frame_bytes: whole(1024, 256 * MIB).default(PYTHON_DEFAULTS.maxFrameBytes),
  start_timeout_ms: whole(100, 600_000).default(PYTHON_DEFAULTS.startTimeoutMs),
};

/** The section `executors.python` of gateway.yaml. Relative folders start at `configDir`. */
export function pythonSettingsSchema(configDir: string) {
  const absolute = (paths: readonly string[]) => paths.map((path) => resolve(configDir, path));
  return z.strictObject(fields).transform((said): PythonSettings => ({
    interpreter: said.interpreter,
    interpreters: said.interpreters,
    path: said.path,
    modulePaths: absolute(said.module_paths),
    modules: said.modules,
    whenChanged: said.when_changed,
    sandbox: said.sandbox,
    network: said.network,
    readable: absolute(said.readable),
    writable: absolute(said.writable),
    memoryBytes: said.memory_bytes,
    maxProcesses: said.max_processes,
    workers: said.workers,
    callsPerWorker: said.calls_per_worker,
    maxCallsPerWorker: said.max_calls_per_worker,
    maxWorkerAgeMs: said.max_worker_age_ms,
    maxWorkerBytes: said.max_worker_bytes,
    maxQueue: said.max_queue,
    maxFrameBytes: said.max_frame_bytes,
    startTimeoutMs: said.start_timeout_ms,
  }));
}
