// What gateway.yaml may say about Python: which interpreter, where tools are looked for, how many workers.
import { resolve } from 'node:path';
import { z } from 'zod';

export interface PythonSettings {
  /** The program: a name that is looked up on `path`, or a path. */
  readonly interpreter: string;
  /** PATH of the workers; nothing else of the gateway's environment reaches them. */
  readonly path: string;
  /** Absolute folders that tools' modules are looked for in, before the folder of the tool's own file. */
  readonly modulePaths: readonly string[];
  /** Processes per set of folders; each runs one call at a time. */
  readonly workers: number;
  /** After so many calls a worker is replaced by a fresh one. */
  readonly maxCallsPerWorker: number;
  /** Calls that may wait for a free worker; one more is refused at once. */
  readonly maxQueue: number;
  /** Largest request and largest result, as JSON text. */
  readonly maxFrameBytes: number;
  /** Time for an interpreter to start, and again for a module to be imported. */
  readonly startTimeoutMs: number;
}

export const PYTHON_DEFAULTS: PythonSettings = {
  interpreter: 'python3',
  path: '/usr/local/bin:/usr/bin:/bin',
  modulePaths: [],
  workers: 2,
  maxCallsPerWorker: 10_000,
  maxQueue: 1000,
  maxFrameBytes: 8 * 1024 * 1024,
  startTimeoutMs: 10_000,
};

const whole = (least: number, most: number) => z.number().int().min(least).max(most);

/** The section `executors.python` of gateway.yaml. Relative module_paths start at `configDir`. */
export function pythonSettingsSchema(configDir: string) {
  const defaults = PYTHON_DEFAULTS;
  return z
    .strictObject({
      interpreter: z
        .string()
        .min(1)
        .default(defaults.interpreter)
        .describe('Program: a name on `path`, or a path.'),
      path: z
        .string()
        .min(1)
        .default(defaults.path)
        .describe('PATH of the workers; nothing else is inherited.'),
      module_paths: z
        .array(z.string().min(1))
        .default([])
        .describe('Folders that modules are looked for in.'),
      workers: whole(1, 64).default(defaults.workers).describe('Processes per set of folders.'),
      max_calls_per_worker: whole(1, 10_000_000).default(defaults.maxCallsPerWorker),
      max_queue: whole(0, 100_000).default(defaults.maxQueue).describe('Calls that may wait for a worker.'),
      max_frame_bytes: whole(1024, 256 << 20).default(defaults.maxFrameBytes),
      start_timeout_ms: whole(100, 600_000).default(defaults.startTimeoutMs),
    })
    .transform((said): PythonSettings => ({
      interpreter: said.interpreter,
      path: said.path,
      modulePaths: said.module_paths.map((folder) => resolve(configDir, folder)),
      workers: said.workers,
      maxCallsPerWorker: said.max_calls_per_worker,
      maxQueue: said.max_queue,
      maxFrameBytes: said.max_frame_bytes,
      startTimeoutMs: said.start_timeout_ms,
    }));
}
