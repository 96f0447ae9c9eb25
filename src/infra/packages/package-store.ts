// PackageStore: packages of MCP servers, each installed once into a folder that nothing changes afterwards.
import { hash, randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { nameOf, type NamedPackage } from '../../lib/mcp/mcp-package.ts';
import type { Clock } from '../../ports/clock.ts';
import type { McpPackage } from '../../ports/egress/mcp-servers.ts';
import type { ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { letThrough } from '../sandbox/let-through.ts';
import { barrierAbove } from '../sandbox/reachable.ts';
import { folderBytes } from './folder-bytes.ts';
import type { Owner } from '../sandbox/workspace/workspace-files.ts';
import { installFailure, notInstalled } from './install-failure.ts';
import { NpmPackages } from './npm-packages.ts';
import type { InstalledProgram, PackageKind, Step } from './package-kind.ts';
import { PypiPackages } from './pypi-packages.ts';
import { runStep } from './run-step.ts';

/** Says that the folder beside it is whole. */
const RECORD = 'installed.json';
/** Of a start that ended before its installation did. */
const UNFINISHED = '.installing-';

export interface InstalledPackage {
  /** As `package:` names them. */
  readonly packages: readonly string[];
  readonly scripts: boolean;
  readonly installed_at: string;
  /** Everything that came with them, with versions. */
  readonly contents: readonly string[];
}

export interface PackageStoreOptions {
  /** Absolute. */
  readonly root: string;
  /** Above it, and the gateway's own: opened for the sandbox's user as far as it has to be. */
  readonly dataDir: string;
  readonly spawner: ProcessSpawner;
  readonly clock: Clock;
  readonly log: Log;
  /** Whom programs in the sandbox run as, where the gateway is root. */
  readonly user: Owner | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

interface StepsPlace {
  readonly names: string;
  readonly kind: PackageKind;
  readonly folder: string;
  readonly confined: boolean;
}

export class PackageStore {
  readonly #options: PackageStoreOptions;
  readonly #kinds = new Map<'npm' | 'pypi', PackageKind>();
  readonly #installing = new Map<string, Promise<void>>();

  constructor(options: PackageStoreOptions) {
    this.#options = options;
  }

  /** Where the program is, installed first where it has to be. Throws ToolFailure UNAVAILABLE (PACKAGE_NOT_INSTALLED). */
  async ready(asked: McpPackage, confined: boolean): Promise<InstalledProgram> {
    const names = asked.packages.map(nameOf).join(', ');
    try {
      const kind = this.#kind(asked.packages[0]?.registry ?? 'npm');
      const folder = this.#folder(asked, kind);
      if (!existsSync(join(folder, RECORD))) await this.#installOnce(asked, kind, folder, confined);
      return kind.program(asked, folder);
    } catch (error) {
      if (error instanceof ToolFailure) throw error;
      throw notInstalled(names, `${error instanceof Error ? error.message : String(error)}.`, error);
    }
  }

  /** The newest version that can be installed here. Throws ToolFailure UNAVAILABLE (PACKAGE_NOT_INSTALLED). */
  async newest(asked: NamedPackage, confined: boolean): Promise<string> {
    const names = nameOf(asked);
    const kind = this.#kind(asked.registry);
    const folder = this.#stagingFolder(confined);
    try {
      const { steps, read } = kind.newest(asked, folder);
      const version = read(await this.#runAll(steps, { names, kind, folder, confined }));
      if (version !== undefined) return version;
      throw notInstalled(names, 'the registry does not say which version is the newest.');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async list(): Promise<readonly InstalledPackage[]> {
    const found: InstalledPackage[] = [];
    for (const registry of ['npm', 'pypi']) {
      const folder = join(this.#options.root, registry);
      const names: readonly string[] = await readdir(folder).catch(() => []);
      for (const name of names.toSorted()) {
        const record = join(folder, name, RECORD);
        if (existsSync(record)) found.push(JSON.parse(readFileSync(record, 'utf8')) as InstalledPackage);
      }
    }
    return found;
  }

  #kind(registry: 'npm' | 'pypi'): PackageKind {
    const { user } = this.#options;
    const kind =
      this.#kinds.get(registry) ?? (registry === 'npm' ? new NpmPackages(user) : new PypiPackages(user));
    this.#kinds.set(registry, kind);
    return kind;
  }

  #folder({ packages, scripts }: McpPackage, { platform }: PackageKind): string {
    const [first] = packages;
    const all = packages.map(nameOf);
    const mark = hash('sha256', JSON.stringify([all, scripts, platform])).slice(0, 12);
    const name = `${(first?.name ?? '').replaceAll('/', '+')}@${first?.version ?? ''}-${mark}`;
    return join(this.#options.root, first?.registry ?? 'npm', name);
  }

  #installOnce(asked: McpPackage, kind: PackageKind, folder: string, confined: boolean): Promise<void> {
    const under = this.#installing.get(folder);
    if (under !== undefined) return under;
    const installing = this.#install(asked, kind, folder, confined).finally(() =>
      this.#installing.delete(folder),
    );
    this.#installing.set(folder, installing);
    return installing;
  }

  async #install(asked: McpPackage, kind: PackageKind, folder: string, confined: boolean): Promise<void> {
    const { log, clock, maxBytes } = this.#options;
    const packages = asked.packages.map(nameOf);
    const names = packages.join(', ');
    const startedAt = clock.now();
    log.info({ packages, scripts: asked.scripts }, 'installing a package for an MCP server');
    const staging = this.#stagingFolder(confined);
    try {
      await this.#runAll(kind.steps(asked, staging), { names, kind, folder: staging, confined });
      for (const each of ['.cache', '.tmp', '.pip'])
        await rm(join(staging, each), { recursive: true, force: true });
      const bytes = await folderBytes(staging, maxBytes);
      if (bytes > maxBytes)
        throw notInstalled(names, `it takes more than executors.mcp.max_package_bytes (${maxBytes}).`);
      kind.program(asked, staging);
      const record: InstalledPackage = {
        packages,
        scripts: asked.scripts,
        installed_at: new Date(clock.now()).toISOString(),
        contents: kind.contents(staging).toSorted(),
      };
      // Code of the package may have put a link here, to where the gateway alone can write.
      rmSync(join(staging, RECORD), { recursive: true, force: true });
      writeFileSync(join(staging, RECORD), `${JSON.stringify(record, null, 2)}\n`, { flag: 'wx' });
      this.#take(staging, folder);
      log.info({ packages, durationMs: clock.now() - startedAt, bytes }, 'a package was installed');
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  }

  /** Gives what the last one printed. */
  async #runAll(steps: readonly Step[], { names, kind, folder, confined }: StepsPlace): Promise<string> {
    const { timeoutMs, clock } = this.#options;
    const until = clock.now() + timeoutMs;
    let printed = '';
    for (const step of steps) {
      const left = Math.max(1, until - clock.now());
      const place = { folder, readable: kind.readable, confined, timeoutMs: left };
      const { ok, output } = await runStep(step, place, this.#options);
      if (!ok) throw installFailure(names, output);
      printed = output;
    }
    return printed;
  }

  /** Another process may have been as fast: what it made is as good. */
  #take(staging: string, folder: string): void {
    mkdirSync(join(folder, '..'), { recursive: true, mode: 0o755 });
    try {
      renameSync(staging, folder);
    } catch (error) {
      if (!existsSync(join(folder, RECORD))) throw error;
    }
  }

  #stagingFolder(confined: boolean): string {
    const { root, dataDir, user } = this.#options;
    const staging = join(root, UNFINISHED + randomUUID());
    mkdirSync(join(staging, '.tmp'), { recursive: true, mode: 0o755 });
    if (user === undefined || !confined) return staging;
    for (const each of [staging, join(staging, '.tmp')]) chownSync(each, user.uid, user.gid);
    if (`${root}/`.startsWith(`${dataDir}/`)) letThrough(dataDir, user);
    letThrough(root, user);
    const barrier = barrierAbove(staging, user);
    if (barrier === undefined) return staging;
    throw new Error(
      `programs in the sandbox run as the user ${user.uid}, who may not pass ${barrier}: set executors.mcp.packages_dir, or run "chmod o+x ${barrier}"`,
    );
  }
}
