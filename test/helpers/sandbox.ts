// The sandbox of this machine for tests: with a folder of its own, cleaned up at the end.
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeProcessSpawner } from '../../src/infra/process/node-process-spawner.ts';
import { ProcessStarter } from '../../src/infra/process/process-starter.ts';
import { LocalSandbox } from '../../src/infra/sandbox/local-sandbox.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { SANDBOX_DEFAULTS, type SandboxSettings } from '../../src/lib/sandbox-settings.ts';
import type { SandboxLimits, SandboxOutcome, SandboxRun } from '../../src/ports/egress/sandbox.ts';
import { removeDir } from './temp-tools.ts';

export const MIB = 1 << 20;

export const LIMITS: SandboxLimits = {
  wallMs: 20_000,
  cpuSeconds: 10,
  memoryBytes: 256 * MIB,
  maxProcesses: 32,
  outputBytes: MIB,
  fileBytes: 16 * MIB,
  workspaceBytes: 16 * MIB,
  collectBytes: 4 * MIB,
};

export type RunExtras = Partial<Omit<SandboxRun, 'argv' | 'limits'>> & { limits?: Partial<SandboxLimits> };

export class SandboxBench {
  readonly dir = mkdtempSync(join(tmpdir(), 'ute-sandbox-'));
  readonly starter = new ProcessStarter();
  readonly sandbox: LocalSandbox;
  readonly spawner: NodeProcessSpawner;

  /** `root`: folder of the workspaces, below `dir`. */
  constructor(settings: Partial<SandboxSettings> = {}, root = 'workspaces') {
    // As root, the sandbox's user is another one.
    chmodSync(this.dir, 0o755);
    this.sandbox = new LocalSandbox({
      settings: { ...SANDBOX_DEFAULTS, ...settings },
      root: join(this.dir, root),
      starter: this.starter,
      clock: new SystemClock(),
    });
    this.spawner = new NodeProcessSpawner(this.starter, this.sandbox);
  }

  run(argv: readonly string[], { limits, ...extras }: RunExtras = {}): Promise<SandboxOutcome> {
    return this.sandbox.run({
      argv,
      workspace: { kind: 'ephemeral' },
      signal: new AbortController().signal,
      ...extras,
      limits: { ...LIMITS, ...limits },
    });
  }

  shell(script: string, extras: RunExtras = {}): Promise<SandboxOutcome> {
    return this.run(['/bin/sh', '-c', script], extras);
  }

  python(script: string, extras: RunExtras = {}): Promise<SandboxOutcome> {
    return this.run(['/usr/bin/python3', '-I', '-S', '-B', '-c', script], extras);
  }

  async close(): Promise<void> {
    await this.starter.closeAll();
    removeDir(this.dir);
  }
}

/** A workspace that stays for the next run. */
export const keptAs = (key: string, owner = 'tenant') => ({ kind: 'kept', owner, key }) as const;

/** What a run printed, as text. */
export function textOf({ stdout, stderr }: SandboxOutcome): { readonly out: string; readonly err: string } {
  return { out: stdout.toString('utf8'), err: stderr.toString('utf8') };
}
