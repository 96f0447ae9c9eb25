// A whole gateway in this process, on free ports, with its own data directory: what e2e tests talk to.
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { seedDatabase } from './embedded-postgres.ts';
import { serve, type Service } from '../../src/app/service/serve.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { removeDir } from './temp-tools.ts';

export interface TestKey {
  readonly text: string;
  readonly id: string;
}

export interface RunningGateway {
  readonly service: Service;
  readonly url: string;
  readonly dir: string;
  /** admin: everything, of the platform too; agent: reads and calls for acme; other: another tenant; reader: reads only. */
  readonly keys: Readonly<Record<'admin' | 'agent' | 'other' | 'reader', TestKey>>;
  /** The key that `more` asked for under this name. */
  key(name: string): { readonly url: string; readonly key: string };
  stop(): Promise<void>;
}

/** A key as gateway.yaml has it; without a tenant it is the platform's. */
export interface WantedKey {
  readonly tenant?: string;
  readonly tenants?: readonly string[] | '*';
  readonly roles: readonly string[];
  readonly user?: string;
  readonly agents?: readonly string[];
}

const ROOT = resolve(import.meta.dirname, '../..');

/** `tools`: paths of tools files. `settings` lies over the test's gateway.yaml, `roles` and `more` keys beside its own. */
export async function startGateway(options: {
  tools: readonly string[];
  settings?: Record<string, unknown>;
  roles?: Readonly<Record<string, readonly string[]>>;
  more?: Readonly<Record<string, WantedKey>>;
  /** Of the process: what stands in the environment and in the files that it names. */
  env?: Readonly<Record<string, string>>;
  /** Beside keys and roles. */
  auth?: Readonly<Record<string, unknown>>;
}): Promise<RunningGateway> {
  const dir = mkdtempSync(join(tmpdir(), 'ute-e2e-'));
  // As root, the user of the embedded database goes through it.
  chmodSync(dir, 0o711);
  seedDatabase(join(dir, 'data'));
  const made = {
    admin: newKey({ tenant: 'acme', roles: ['platform_admin'] }),
    agent: newKey({ tenant: 'acme', roles: ['agent'] }),
    other: newKey({ tenant: 'umbrella', roles: ['agent'] }),
    reader: newKey({ tenant: 'acme', roles: ['reader'] }),
  };
  const more = new Map(Object.entries(options.more ?? {}).map(([name, wanted]) => [name, newKey(wanted)]));
  const keys = [...Object.values(made), ...more.values()].map(({ stored }) => stored);
  const file = {
    http: { port: 0 },
    grpc: { port: 0 },
    metrics: { port: 0 },
    data_dir: join(dir, 'data'),
    auth: { keys, roles: { reader: ['tools:read'], ...options.roles }, ...options.auth },
    loaders: [{ type: 'yaml-file', paths: options.tools.map((path) => resolve(ROOT, path)) }],
    executors: { python: { module_paths: [join(ROOT, 'tools/python'), join(ROOT, 'test/fixtures/python')] } },
    approvals: { allow_self_approval: true },
    log: { level: 'silent' },
    shutdown: { drain_ms: 5_000 },
    demo: { upstream: true },
    ...options.settings,
    // In one process with the test, a gateway on a busy machine lags: no reason to refuse calls here.
    limits: { shed_at_lag_ms: 60_000, ...(options.settings?.['limits'] as object | undefined) },
  };
  writeFileSync(join(dir, 'gateway.yaml'), stringify(file));
  const read = (text?: string) =>
    loadSettings({ ...options.env, UTE_CONFIG: join(dir, 'gateway.yaml') }, dir, text);
  const service = await serve(read(), () => undefined, read).catch((error: unknown) => {
    removeDir(dir);
    throw error;
  });
  return {
    service,
    url: service.restUrl,
    dir,
    key(name) {
      const found = more.get(name);
      if (found === undefined) throw new Error(`no key was asked for under the name ${name}`);
      return { url: service.restUrl, key: found.key.text };
    },
    keys: { admin: made.admin.key, agent: made.agent.key, other: made.other.key, reader: made.reader.key },
    async stop() {
      await service.stop();
      removeDir(dir);
    },
  };
}

function newKey(wanted: WantedKey) {
  const { text, id, secretHash } = createApiKey();
  return { key: { text, id }, stored: { id, secret_sha256: secretHash.toString('hex'), ...wanted } };
}
