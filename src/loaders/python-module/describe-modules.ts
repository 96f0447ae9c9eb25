// Runs describe.py over the modules, in the sandbox unless told otherwise, within a time and a size.
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { placesOf } from '../../lib/files/python-places.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChildProcess, Confinement, ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import type { PythonModuleOptions } from './options.ts';
import { readReport, type Report } from './report.ts';

const DESCRIBE = fileURLToPath(new URL('../../../python/unified_tools/describe.py', import.meta.url));
const MIB = 1024 * 1024;
const MAX_REPORT_BYTES = 16 * MIB;
/** What modules print is read so that they do not wait for ever, and dropped but for its end. */
const MAX_PRINTED_BYTES = 16 * MIB;
const PATH = '/usr/local/bin:/usr/bin:/bin';
const LIMITS = { memoryBytes: 512 * MIB, maxProcesses: 32 };

export interface DescribeNeeds {
  readonly spawner: ProcessSpawner;
  readonly clock: Clock;
}

export interface DescribeRequest {
  readonly options: PythonModuleOptions;
  /** Absolute, without symbolic links. */
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
}

export type Described = { readonly report: Report } | { readonly message: string };

/** Rejects only when the signal aborts; the child is gone then, as it is in every other case. */
export async function describeModules(request: DescribeRequest, needs: DescribeNeeds): Promise<Described> {
  request.signal.throwIfAborted();
  let child: ChildProcess;
  try {
    child = await startChild(request, needs.spawner);
  } catch (error) {
    return { message: startMessage(error, request.options) };
  }
  const watched = new WatchedChild(child, request);
  const { timeout_ms: timeoutMs } = request.options;
  const disarm = needs.clock.after(timeoutMs, () =>
    watched.end(`took longer than ${timeoutMs} ms (timeout_ms)`),
  );
  const onAbort = () => watched.end('was called off');
  request.signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (request.signal.aborted) onAbort();
    return await watched.outcome();
  } finally {
    disarm();
    request.signal.removeEventListener('abort', onAbort);
    child.kill();
    request.signal.throwIfAborted();
  }
}

async function startChild(
  { options, paths }: DescribeRequest,
  spawner: ProcessSpawner,
): Promise<ChildProcess> {
  const { interpreter, modules, sandbox } = options;
  const places = await Promise.all(paths.map((path) => placesOf(path, modules)));
  return spawner.spawn({
    // -I: no PYTHON* variable and no user folder has a say. -B: writes nothing beside the modules.
    argv: [interpreter, '-I', '-B', '-u', DESCRIBE, JSON.stringify({ modules, paths })],
    cwd: '/',
    env: { PATH, LANG: 'C.UTF-8' },
    channel: true,
    ...(sandbox === 'required' && { confinement: confinementOf(interpreter, places.flat()) }),
  });
}

/** `places`: the modules that are named, and what they import from beside them. */
function confinementOf(interpreter: string, places: readonly string[]): Confinement {
  const readable = new Set([dirname(DESCRIBE), ...interpreterFolders(interpreter), ...places]);
  return { readable: [...readable].filter((path) => existsSync(path)), network: 'none', ...LIMITS };
}

/** A virtual environment, and an installation outside the system's own folders. */
function interpreterFolders(interpreter: string): readonly string[] {
  if (!isAbsolute(interpreter) || !existsSync(interpreter)) return [];
  return [interpreter, realpathSync(interpreter)]
    .map((program) => join(dirname(program), '..'))
    .filter((folder) => folder !== '/' && !`${folder}/`.startsWith('/usr/'));
}

function startMessage(error: unknown, { interpreter }: PythonModuleOptions): string {
  const why = error instanceof Error ? error.message : String(error);
  const hint =
    error instanceof ToolFailure && isReason(error, 'SANDBOX_UNAVAILABLE')
      ? '; say "sandbox: off" to import the modules with the rights of the gateway'
      : '';
  return `the Python modules cannot be read with ${interpreter}: ${why}${hint}`;
}

/** Collects the report, and ends the child at the first limit that it passes. */
class WatchedChild {
  readonly #child: ChildProcess;
  readonly #request: DescribeRequest;
  readonly #report: Buffer[] = [];
  readonly #streams: Promise<unknown>[];
  #reportBytes = 0;
  #printedBytes = 0;
  #lastPrinted = '';
  #ended: string | undefined;

  constructor(child: ChildProcess, request: DescribeRequest) {
    this.#child = child;
    this.#request = request;
    const { stdout, stderr, fromChild, toChild } = child;
    toChild?.on('error', () => undefined);
    this.#streams = [stdout, stderr].map((stream) => drained(stream, (chunk) => this.#onPrinted(chunk)));
    if (fromChild !== undefined) this.#streams.push(drained(fromChild, (chunk) => this.#onReport(chunk)));
  }

  /** The first reason is the one told. */
  end(reason: string): void {
    this.#ended ??= reason;
    this.#child.kill();
  }

  async outcome(): Promise<Described> {
    const { code, signal } = await this.#child.exited;
    // What the modules started may hold the pipes open.
    this.#child.kill();
    await Promise.all(this.#streams);
    const { options, paths } = this.#request;
    const report = readReport(Buffer.concat(this.#report).toString('utf8'), options.modules, paths);
    if (report.isDone && this.#ended === undefined) return { report };
    const at = report.importing === undefined ? '' : `, while it imported the module ${report.importing}`;
    const how = this.#ended ?? (report.garbled ? 'wrote what is no report' : exitText(code, signal));
    const printed = this.#lastPrinted === '' ? '' : `; it last printed: ${this.#lastPrinted}`;
    return { message: `reading the Python modules ${how}${at}${printed}` };
  }

  #onReport(chunk: Buffer): void {
    this.#reportBytes += chunk.length;
    if (this.#reportBytes > MAX_REPORT_BYTES) this.end(`reported more than ${MAX_REPORT_BYTES} bytes`);
    else this.#report.push(chunk);
  }

  #onPrinted(chunk: Buffer): void {
    this.#printedBytes += chunk.length;
    const lines = chunk.toString('utf8').trimEnd().split('\n');
    this.#lastPrinted = (lines.at(-1) ?? '').slice(0, 300).toWellFormed();
    if (this.#printedBytes > MAX_PRINTED_BYTES) this.end(`printed more than ${MAX_PRINTED_BYTES} bytes`);
  }
}

function exitText(code: number | null, signal: string | null): string {
  return signal === null ? `ended early, with exit code ${code}` : `was ended by ${signal}`;
}

function drained(stream: Readable, onChunk: (chunk: Buffer) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.on('data', onChunk);
  stream.once('close', resolve);
  stream.once('error', () => resolve());
  return promise;
}
