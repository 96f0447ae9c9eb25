// One step of an installation: npm or pip, in the sandbox with the network, bounded in time and output.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withoutCovered } from '../../lib/files/program-needs.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import type { Step } from './package-kind.ts';

const MIB = 1 << 20;
const MOST_OUTPUT = 256 * 1024;

/** Where registries are and how they are reached, as the operator has set it for the gateway. */
const PASSED =
  /^(?:npm_config_(?:registry|cafile|proxy|https_proxy|noproxy|strict_ssl)|PIP_(?:INDEX_URL|EXTRA_INDEX_URL|CERT|FIND_LINKS|CONFIG_FILE|TRUSTED_HOST|DEFAULT_TIMEOUT|NO_INDEX|PROXY)|(?:https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE)$/i;
const SYSTEM_FILES = ['/etc/npmrc', '/etc/pip.conf', '/etc/xdg/pip'];

export interface StepPlace {
  readonly folder: string;
  readonly readable: readonly string[];
  /** Outside of the sandbox it runs as the gateway's own user. */
  readonly confined: boolean;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface StepOutcome {
  readonly ok: boolean;
  /** The end of what it printed. */
  readonly output: string;
}

/** Throws ToolFailure where it cannot be started, and the signal's reason where it was ended. */
export async function runStep(
  { argv, env }: Step,
  { folder, readable, confined, timeoutMs, signal }: StepPlace,
  { spawner, clock }: { readonly spawner: ProcessSpawner; readonly clock: Clock },
): Promise<StepOutcome> {
  signal?.throwIfAborted();
  const passed = Object.entries(process.env).filter(([name]) => PASSED.test(name)) as [string, string][];
  const files = [...SYSTEM_FILES, ...passed.map(([, value]) => value)].filter(
    (value) => value.startsWith('/') && !value.startsWith('/usr/') && existsSync(value),
  );
  const temporary = join(folder, '.tmp');
  const child = await spawner.spawn({
    argv,
    cwd: folder,
    env: { LANG: 'C.UTF-8', HOME: temporary, TMPDIR: temporary, ...Object.fromEntries(passed), ...env },
    channel: false,
    ...(confined && {
      confinement: {
        readable: withoutCovered([...readable, ...files]),
        writable: [folder],
        network: 'host',
        memoryBytes: 4096 * MIB,
        maxProcesses: 256,
      },
    }),
  });
  const output = new Tail();
  child.stdout.on('data', (chunk: Buffer) => output.add(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.add(chunk));
  let late = false;
  const disarm = clock.after(timeoutMs, () => {
    late = true;
    child.kill();
  });
  const end = () => child.kill();
  signal?.addEventListener('abort', end, { once: true });
  // It may have been aborted while the child was started.
  if (signal?.aborted === true) end();
  const { code } = await child.exited;
  disarm();
  signal?.removeEventListener('abort', end);
  signal?.throwIfAborted();
  const told = late ? `${output.text}\nit took longer than ${timeoutMs} ms` : output.text;
  return { ok: code === 0 && !late, output: told };
}

/** The end of a text that may be long. */
class Tail {
  #chunks: Buffer[] = [];
  #bytes = 0;

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes > MOST_OUTPUT && this.#chunks.length > 1)
      this.#bytes -= this.#chunks.shift()?.length ?? 0;
  }
}
