// PackageStore: packages of MCP servers, each installed once into a folder that nothing changes afterwards.
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { nameOf, type NamedPackage } from '../../lib/mcp/mcp-package.ts';
import type { Clock } from '../../ports/clock.ts';
import type { McpPackage } from '../../ports/egress/mcp-servers.ts';
import type { ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { shuttingDown } from '../../contract/call/failure.ts';
import { folderBytes } from './folder-bytes.ts';
import { installFailure, notInstalled, ownFailure } from './install-failure.ts';
import { NpmPackages } from './npm-packages.ts';
import type { InstalledProgram, PackageKind, Step } from './package-kind.ts';
import { PypiPackages } from './pypi-packages.ts';
import { runStep } from './run-step.ts';
import { SharedInstalls } from './shared-installs.ts';
import { inStaging, sweepStaging, type StagingPlace } from './staging-folders.ts';

/** Says that the folder beside it is whole. */
const RECORD = 'installed.json';

export interface InstalledPackage {
  /** As `package:` names them. */
  readonly packages: readonly string[];
  readonly scripts: boolean;
  readonly installed_at: string;
  /** Everything that came with them, with versions. */
  readonly contents: readonly string[];
}

/** `root` is absolute. */
export interface PackageStoreOptions extends StagingPlace {
  readonly spawner: ProcessSpawner;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

interface StepsPlace {
  readonly names: string;
  readonly kind: PackageKind;
  readonly folder: string;
  readonly confined: boolean;
  readonly signal?: AbortSignal;
}

export class PackageStore {
  readonly #options: PackageStoreOptions;
  readonly #kinds = new Map<'npm' | 'pypi', PackageKind>();
  readonly #installs: SharedInstalls;

  constructor(options: PackageStoreOptions) {
    this.#options = options;
    this.#installs = new SharedInstalls(options.clock);
  }

  /** Removes what installations have left whose process is gone. */
  async sweep(): Promise<void> {
    const { root, clock, log } = this.#options;
    try {
      const folders = await sweepStaging(root, clock.now());
      if (folders > 0) log.info({ folders }, 'unfinished installations of packages were removed');
    } catch (err) {
      log.warn({ err }, 'unfinished installations of packages cannot be removed');
    }
  }

  /** Ends installations that are under way. */
  async close(): Promise<void> {
    await this.#installs.close(shuttingDown());
  }

  /**
   * Where the program is, installed first where it has to be. Throws ToolFailure UNAVAILABLE (PACKAGE_NOT_INSTALLED), or
   * the signal's reason: an installation that nobody waits for any more is ended.
   */
  async ready(asked: McpPackage, confined: boolean, signal?: AbortSignal): Promise<InstalledProgram> {
    const names = asked.packages.map(nameOf).join(', ');
    try {
      const kind = this.#kind(asked.packages[0]?.registry ?? 'npm');
      const folder = this.#folder(asked, kind);
      if (!existsSync(join(folder, RECORD)))
        await this.#installs.wait(folder, signal, (ended) =>
          this.#install(asked, { names, kind, folder, confined, signal: ended }),
        );
      return kind.program(asked, folder);
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof ToolFailure ? error : ownFailure(names, error);
    }
  }

  /** The newest version that can be installed here. Throws ToolFailure UNAVAILABLE (PACKAGE_NOT_INSTALLED). */
  async newest(asked: NamedPackage, confined: boolean): Promise<string> {
    const names = nameOf(asked);
    try {
      const kind = this.#kind(asked.registry);
      return await inStaging(this.#options, confined, async (folder) => {
        const { steps, read } = kind.newest(asked, folder);
        const version = read(await this.#runAll(steps, { names, kind, folder, confined }));
        if (version !== undefined) return version;
        throw notInstalled(names, 'the registry does not say which version is the newest.');
      });
    } catch (error) {
      throw error instanceof ToolFailure ? error : ownFailure(names, error);
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

  async #install(asked: McpPackage, place: StepsPlace): Promise<void> {
    const { log, clock } = this.#options;
    const packages = asked.packages.map(nameOf);
    const startedAt = clock.now();
    log.info({ packages, scripts: asked.scripts }, 'installing a package for an MCP server');
    try {
      const bytes = await inStaging(this.#options, place.confined, (staging) =>
        this.#installIn(staging, asked, place),
      );
      log.info({ packages, durationMs: clock.now() - startedAt, bytes }, 'a package was installed');
    } catch (error) {
      place.signal?.throwIfAborted();
      throw error instanceof ToolFailure ? error : ownFailure(place.names, error);
    }
  }

  async #installIn(staging: string, asked: McpPackage, place: StepsPlace): Promise<number> {
    const { clock, maxBytes } = this.#options;
    const { names, kind, folder } = place;
    await this.#runAll(kind.steps(asked, staging), { ...place, folder: staging });
    for (const each of ['.cache', '.tmp', '.pip'])
      await rm(join(staging, each), { recursive: true, force: true });
    const bytes = await folderBytes(staging, maxBytes);
    if (bytes > maxBytes)
      throw notInstalled(names, `it takes more than executors.mcp.max_package_bytes (${maxBytes}).`);
    kind.program(asked, staging);
    const record: InstalledPackage = {
      packages: asked.packages.map(nameOf),
      scripts: asked.scripts,
      installed_at: new Date(clock.now()).toISOString(),
      contents: kind.contents(staging).toSorted(),
    };
    // Code of the package may have put a link here, to where the gateway alone can write.
    rmSync(join(staging, RECORD), { recursive: true, force: true });
    writeFileSync(join(staging, RECORD), `${JSON.stringify(record, null, 2)}\n`, { flag: 'wx' });
    place.signal?.throwIfAborted();
    this.#take(staging, folder);
    return bytes;
  }

  /** Gives what the last one printed. */
  async #runAll(
    steps: readonly Step[],
    { names, kind, folder, confined, signal }: StepsPlace,
  ): Promise<string> {
    const { timeoutMs, clock } = this.#options;
    const until = clock.now() + timeoutMs;
    let printed = '';
    for (const step of steps) {
      const left = Math.max(1, until - clock.now());
      const place = { folder, readable: kind.readable, confined, timeoutMs: left, ...(signal && { signal }) };
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
}
