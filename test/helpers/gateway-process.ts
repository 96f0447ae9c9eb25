// The built program as an operator runs it: a child process with its own folder, its output kept, its end awaited.
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from 'yaml';
import { seedDatabase } from './embedded-postgres.ts';

const PROGRAM = resolve(import.meta.dirname, '../../dist/bundle/main.js');

export interface Doors {
  readonly rest: string;
  readonly grpc: string;
  readonly metrics: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class GatewayProcess {
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';

  /** `dir` is its working directory; `env` is all it gets besides PATH; `under` is a program that starts it. */
  constructor(
    dir: string,
    env: Readonly<Record<string, string>>,
    under: readonly string[] = [],
    main = PROGRAM,
  ) {
    const { PATH = '' } = process.env;
    const [program, ...args] = [...under, process.execPath, main];
    this.#child = spawn(program, args, {
      cwd: dir,
      env: { PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.exited = new Promise((done) => this.#child.once('close', (code, signal) => done({ code, signal })));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Where it listens, once it says that it is ready. */
  async ready(withinMs = 45_000): Promise<Doors> {
    const giveUpAt = Date.now() + withinMs;
    const ended = this.exited.then(() => true);
    while (Date.now() < giveUpAt) {
      const line = this.#stdout.split('\n').find((text) => text.includes('"msg":"ready"'));
      if (line !== undefined) return JSON.parse(line) as Doors;
      if (await Promise.race([ended, pause(20, false)])) break;
    }
    throw new Error(`the gateway did not get ready:\n${this.#stdout}\n${this.#stderr}`);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** For afterEach: whatever the test did, nothing of it stays. */
  async end(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL');
    await this.exited;
  }
}

/** Writes `dir`/gateway.yaml with free ports and gives the environment that selects it. */
export function configured(dir: string, settings: Readonly<Record<string, unknown>>): Record<string, string> {
  const file = join(dir, 'gateway.yaml');
  // As root, the user of the embedded database goes through it.
  chmodSync(dir, 0o711);
  const { database } = settings;
  const isElsewhere = typeof database === 'object' && database !== null && 'url' in database;
  if (!isElsewhere) seedDatabase(join(dir, 'data'));
  const ports = { http: { port: 0 }, grpc: { port: 0 }, metrics: { port: 0 } };
  writeFileSync(file, stringify({ ...ports, data_dir: join(dir, 'data'), ...settings }));
  return { UTE_CONFIG: file };
}

/** Children of a process, by /proc. */
export function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
    .map(Number);
}

export function isAlive(pid: number): boolean {
  return parentOf(String(pid)) !== undefined;
}

/** Undefined: there is no such process, or it is dead and only not yet reaped. */
function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}
