// A process spawner with the sandbox of this machine behind it, as the gateway puts them together; or without one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeProcessSpawner } from '../../src/infra/process/node-process-spawner.ts';
import { ProcessStarter } from '../../src/infra/process/process-starter.ts';
import { LocalSandbox } from '../../src/infra/sandbox/local-sandbox.ts';
import { SANDBOX_DEFAULTS } from '../../src/lib/sandbox-settings.ts';
import type { ProcessSpawner } from '../../src/ports/process-spawner.ts';
import { realClock } from './python-ports.ts';

export interface ConfiningSpawner extends ProcessSpawner {
  closeAll(): Promise<void>;
}

export function confiningSpawner({ available = true } = {}): ConfiningSpawner {
  if (!available) return new NodeProcessSpawner();
  const root = mkdtempSync(join(tmpdir(), 'ute-sandbox-'));
  const starter = new ProcessStarter();
  const settings = SANDBOX_DEFAULTS;
  const sandbox = new LocalSandbox({ settings, root, starter, clock: realClock });
  const spawner = new NodeProcessSpawner(starter, sandbox);
  return {
    spawn: (request) => spawner.spawn(request),
    async closeAll() {
      await spawner.closeAll();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
