// A whole gateway in this process, on free ports, with its own data directory: what e2e tests talk to.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createApiKey } from '../../src/lib/api-key.ts';
import { serve, type Service } from '../../src/serve.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';

export interface TestKey {
  readonly text: string;
  readonly id: string;
}

export interface RunningGateway {
  readonly service: Service;
  readonly url: string;
  readonly dir: string;
  /** admin: everything; agent: reads and calls for acme; other: another tenant; reader: reads only. */
  readonly keys: Readonly<Record<'admin' | 'agent' | 'other' | 'reader', TestKey>>;
  stop(): Promise<void>;
}

const ROOT = resolve(import.meta.dirname, '../..');

/** `tools`: paths of tools files. `settings` lies over the test's gateway.yaml. */
export async function startGateway(options: {
  tools: readonly string[];
  settings?: Record<string, unknown>;
}): Promise<RunningGateway> {
  const dir = mkdtempSync(join(tmpdir(), 'ute-e2e-'));
  const made = {
    admin: newKey('acme', ['admin']),
    agent: newKey('acme', ['agent']),
    other: newKey('umbrella', ['agent']),
    reader: newKey('acme', ['reader']),
  };
  const file = {
    http: { port: 0 },
    grpc: { port: 0 },
    metrics: { port: 0 },
    data_dir: join(dir, 'data'),
    auth: { keys: Object.values(made).map(({ stored }) => stored), roles: { reader: ['tools:read'] } },
    loaders: [{ type: 'yaml-file', paths: options.tools.map((path) => resolve(ROOT, path)) }],
    executors: { python: { module_paths: [join(ROOT, 'tools/python'), join(ROOT, 'test/fixtures/python')] } },
    approvals: { allow_self_approval: true },
    log: { level: 'silent' },
    shutdown: { drain_ms: 5_000 },
    demo: { upstream: true },
    ...options.settings,
  };
  writeFileSync(join(dir, 'gateway.yaml'), stringify(file));
  const settings = loadSettings({ UTE_CONFIG: join(dir, 'gateway.yaml') }, dir);
  const service = await serve(settings, () => undefined).catch((error: unknown) => {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  });
  return {
    service,
    url: service.restUrl,
    dir,
    keys: { admin: made.admin.key, agent: made.agent.key, other: made.other.key, reader: made.reader.key },
    async stop() {
      await service.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function newKey(tenant: string, roles: string[]) {
  const { text, id, secretHash } = createApiKey();
  return { key: { text, id }, stored: { id, secret_sha256: secretHash.toString('hex'), tenant, roles } };
}
