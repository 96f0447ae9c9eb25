// A folder of Python modules that a test may change as it likes, and the loader that reads them.
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject } from '../../src/contract/json.ts';
import type { LoadedTools } from '../../src/contract/tool/loaded-tools.ts';
import { pythonModuleLoader } from '../../src/loaders/python-module/index.ts';
import { optionsSchema } from '../../src/loaders/python-module/options.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { ProcessSpawner } from '../../src/ports/egress/process-spawner.ts';
import { RecordingLog, realClock } from './python-ports.ts';
import { removeDir, tempDir } from './temp-tools.ts';

export const HEADER = 'from unified_tools import tool\n';
export const GOOD = `${HEADER}\n@tool(read_only=True)\ndef good(a: int) -> int:\n    """Good."""\n    return a\n`;

export class PythonModules {
  readonly dir = realpathSync(tempDir());
  readonly log = new RecordingLog();

  constructor() {
    // The sandbox's user is another one than root.
    chmodSync(this.dir, 0o755);
  }

  write(file: string, text: string): string {
    const path = join(this.dir, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  loader(
    modules: readonly string[],
    spawner: ProcessSpawner,
    options: JsonObject = {},
    clock: Clock = realClock,
  ) {
    const needs = { spawner, clock, log: this.log, configDir: this.dir };
    return pythonModuleLoader.create(needs)(optionsSchema.parse({ modules, paths: ['.'], ...options }));
  }

  load(modules: readonly string[], spawner: ProcessSpawner, options: JsonObject = {}): Promise<LoadedTools> {
    return this.loader(modules, spawner, options).load(new AbortController().signal);
  }

  remove(): void {
    removeDir(this.dir);
  }
}
