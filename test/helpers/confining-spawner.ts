// A process spawner with the sandbox of this machine behind it, as the gateway puts them together; or without one.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeProcessSpawner } from '../../src/infra/process/node-process-spawner.ts';
import { ProcessStarter } from '../../src/infra/process/process-starter.ts';
import { LocalSandbox } from '../../src/infra/sandbox/local-sandbox.ts';
import { SANDBOX_DEFAULTS, type SandboxSettings } from '../../src/lib/sandbox-settings.ts';
import type { ProcessSpawner } from '../../src/ports/egress/process-spawner.ts';
import { realClock } from './python-ports.ts';

export interface ConfiningSpawner extends ProcessSpawner {
  /** Left out where there is none. */
  readonly sandbox?: LocalSandbox;
  closeAll(): Promise<void>;
}

interface SpawnerOptions {
  readonly available?: boolean;
  /** E.g. one of RUNGS. */
  readonly settings?: Partial<SandboxSettings>;
  readonly hidden?: readonly string[];
}

export function confiningSpawner({
  available = true,
  settings,
  hidden = [],
}: SpawnerOptions = {}): ConfiningSpawner {
  if (!available) return new NodeProcessSpawner();
  const dir = mkdtempSync(join(tmpdir(), 'ute-sandbox-'));
  // As root, the sandbox's user is another one.
  chmodSync(dir, 0o755);
  const root = join(dir, 'workspaces');
  const starter = new ProcessStarter();
  const all = { ...SANDBOX_DEFAULTS, ...settings };
  const sandbox = new LocalSandbox({ settings: all, root, starter, clock: realClock, hidden });
  const spawner = new NodeProcessSpawner(starter, sandbox);
  return {
    sandbox,
    spawn: (request) => spawner.spawn(request),
    async closeAll() {
      await spawner.closeAll();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
