// Loads the bundled program together with what V8 compiled of it at an earlier start. Node's own compile cache keeps a file as it
// is before it runs: each start would compile anew every function that it calls, which is a sixth of its time.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setImmediate as yieldToLoop } from 'node:timers/promises';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

type Require = (id: string) => unknown;
type RunChunk = (
  exports: unknown,
  require: Require,
  module: { exports: unknown },
  filename: string,
  dirname: string,
  importModule: (id: string, options?: ImportCallOptions) => Promise<unknown>,
) => void;

/** A chunk that runs, and was compiled without help. */
interface Fresh {
  readonly script: Script;
  readonly source: Buffer;
  readonly path: string;
}

/** The parameters stand on the first line of a chunk, so that its lines keep their numbers. */
const HEAD = '(function (exports, require, module, __filename, __dirname, __import) { ';
/** Before the data: the sums of source and data. V8 looks at neither, and data of another source would be another program. */
const SUMS_BYTES = 8;

export class CompiledProgram {
  readonly #folder: string;
  readonly #kept: string;
  readonly #packages: NodeJS.Require;
  readonly #modules = new Map<string, { exports: unknown }>();
  #fresh: Fresh[] = [];

  /** `folder` holds the chunks. Nobody may write there who may not decide what is run. */
  constructor(folder: string) {
    this.#folder = folder;
    // V8 of another version, or with other flags, cannot use it.
    this.#kept = join(
      folder,
      '.compile-cache',
      `${process.version}-${process.arch}-${cachedDataVersionTag()}`,
    );
    this.#packages = createRequire(join(folder, 'main.js'));
  }

  /** What the chunk of this name exports. Throws what it throws. */
  load(name: string): unknown {
    const known = this.#modules.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} as unknown };
    this.#modules.set(name, module);
    const filename = join(this.#folder, name);
    const run = this.#compile(name, filename).runInThisContext() as RunChunk;
    const load = (id: string) => (id.startsWith('./') ? this.load(id.slice(2)) : this.#packages(id));
    const { cache, resolve } = this.#packages;
    run(
      module.exports,
      Object.assign(load, { cache, resolve }),
      module,
      filename,
      this.#folder,
      async (id, options) => import(id, options) as Promise<unknown>,
    );
    return module.exports;
  }

  /**
   * Keeps what is compiled now, for later starts: to be called once the program has started. Where the folder cannot be written,
   * later starts are slower. Never rejects.
   */
  async keep(): Promise<void> {
    for (const chunk of this.#fresh.splice(0)) {
      // One at a time: the largest holds the event loop for 25 ms.
      await yieldToLoop();
      this.#write(chunk);
    }
  }

  /** At once: the process ends. */
  keepRest(): void {
    for (const chunk of this.#fresh.splice(0)) this.#write(chunk);
  }

  #compile(name: string, filename: string): Script {
    const source = readFileSync(filename);
    const path = join(this.#kept, name);
    const cachedData = read(path, source);
    const script = new Script(`${HEAD}${source.toString('latin1')}\n})`, { filename, cachedData });
    if (cachedData === undefined || script.cachedDataRejected === true)
      this.#fresh.push({ script, source, path });
    return script;
  }

  #write({ script, source, path }: Fresh): void {
    const data = script.createCachedData();
    const sums = Buffer.alloc(SUMS_BYTES);
    sums.writeUInt32LE(crc32(source), 0);
    sums.writeUInt32LE(crc32(data), 4);
    const partial = `${path}.${process.pid}`;
    try {
      mkdirSync(this.#kept, { recursive: true, mode: 0o700 });
      writeFileSync(partial, Buffer.concat([sums, data]), { mode: 0o600 });
      // Whole or not at all: other processes of this gateway start, and may end, at the same time.
      renameSync(partial, path);
    } catch {
      // A read-only installation.
    }
  }
}

/** Undefined: there is none, or not of this source. */
function read(path: string, source: Buffer): Buffer | undefined {
  let kept: Buffer;
  try {
    kept = readFileSync(path);
  } catch {
    return undefined;
  }
  if (kept.length <= SUMS_BYTES) return undefined;
  const data = kept.subarray(SUMS_BYTES);
  return kept.readUInt32LE(0) === crc32(source) && kept.readUInt32LE(4) === crc32(data) ? data : undefined;
}
