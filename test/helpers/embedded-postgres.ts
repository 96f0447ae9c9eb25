// The embedded database of a test's own: in a folder of its own, ended and removed with it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../src/infra/embedded-postgres/embedded-postgres.ts';
import { SANDBOX_DEFAULTS } from '../../src/lib/sandbox-settings.ts';
import type { Log } from '../../src/ports/telemetry/log.ts';
import { quietLog } from './quiet-log.ts';
import { removeDir } from './temp-tools.ts';

export interface TestServer {
  readonly dataDir: string;
  readonly server: EmbeddedPostgres;
  end(): Promise<void>;
}

export function embeddedServer(
  dataDir = mkdtempSync(join(tmpdir(), 'ute-embedded-')),
  log: Log = quietLog,
): TestServer {
  const server = new EmbeddedPostgres({ dataDir, sandboxUid: SANDBOX_DEFAULTS.uid, log });
  return {
    dataDir,
    server,
    async end() {
      await server.stop();
      removeDir(dataDir);
    },
  };
}

/** One that an earlier start has made and brought up to date, where the suites made one; its records are empty. */
export function seededServer(): TestServer {
  const dataDir = mkdtempSync(join(tmpdir(), 'ute-embedded-'));
  seedDatabase(dataDir);
  return embeddedServer(dataDir);
}

/**
 * Gives a gateway of a test the database of an earlier start, an empty one: to make one and to bring it up to date costs more
 * than a second of a processor. What the first start does is for tests of its own.
 */
export function seedDatabase(dataDir: string): void {
  const { UTE_TEST_CLUSTER: template } = process.env;
  if (template === undefined || existsSync(join(dataDir, 'postgres'))) return;
  mkdirSync(dataDir, { recursive: true });
  const { status, stderr } = spawnSync('cp', ['-a', template, join(dataDir, 'postgres')], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the database of the test cannot be copied: ${stderr}`);
}
