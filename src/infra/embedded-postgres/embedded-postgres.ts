// EmbeddedPostgres: the gateway's own PostgreSQL server under data_dir. It starts when it is first needed and ends with the gateway.
import { readFileSync, rmSync } from 'node:fs';
import { getuid } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import type { PoolConfig } from 'pg';
import type { Log } from '../../ports/telemetry/log.ts';
import { lockDataDir } from '../data-dir/data-dir-lock.ts';
import {
  checkCluster,
  configureCluster,
  DATABASE,
  makeCluster,
  markCluster,
  refusePglite,
  SUPERUSER,
} from './cluster.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import {
  placeBinaries,
  placeCluster,
  placeSocket,
  runtimeFolder,
  SHARED,
  type Placement,
} from './placement.ts';
import { findPostgres } from './postgres-package.ts';
import { ServerProcess } from './server-process.ts';
import { endStaleServer } from './stale-server.ts';
import { writerLogin } from './writer-login.ts';

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  /** Whom sandboxed tools run as where the gateway is root. */
  readonly sandboxUid: number;
  readonly log: Log;
}

const RESTART_AFTER_MS = [100, 1_000, 5_000, 15_000];
/** Of a server that was killed a moment ago, its processes see it one after the other. */
const STILL_ENDING = 'pre-existing shared memory block';
const STILL_ENDING_TRIES = 40;
const STILL_ENDING_PAUSE_MS = 250;

/** What it does while it cannot be asked. */
export type StartStep = 'stopped' | 'starting' | 'running' | `recovering: ${string}`;

interface Running {
  readonly place: Placement;
  readonly binaries: string;
  readonly socketDir: string;
  readonly unlock: () => void;
  server: ServerProcess;
}

export class EmbeddedPostgres {
  readonly #options: EmbeddedPostgresOptions;
  readonly #isRoot = getuid?.() === 0;
  /** Of its socket, should data_dir be too long for one. */
  readonly #runtime = runtimeFolder(this.#isRoot);
  readonly #listeners = new Set<(step: StartStep) => void>();
  #running: Promise<Running> | undefined;
  #writer: Promise<PoolConfig> | undefined;
  #step: StartStep = 'stopped';
  #hasRecovered = false;
  #ending = false;

  constructor(options: EmbeddedPostgresOptions) {
    this.#options = options;
  }

  get step(): StartStep {
    return this.#step;
  }

  /** Where parts of it may be besides data_dir: no tool is shown any of these. */
  get places(): readonly string[] {
    return [SHARED, this.#runtime];
  }

  /** Resolves when it recovers from a crash, so that whoever waits can tell; never where it does not. */
  recovering(): Promise<void> {
    return new Promise((resolve) => {
      this.#listeners.add((step) => {
        if (step.startsWith('recovering')) resolve();
      });
    });
  }

  get hasRecovered(): boolean {
    return this.#hasRecovered;
  }

  /** Throws EmbeddedPostgresError or DataDirInUse, a line for the operator. Started once; a failure is tried anew. */
  async start(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#start();
      this.#running.catch(() => (this.#running = undefined));
    }
    await this.#running;
  }

  /** Connections of the superuser; `start` comes first. */
  async pool(database = DATABASE): Promise<PoolConfig> {
    await this.start();
    const { place, socketDir } = (await this.#running) as Running;
    return {
      host: socketDir,
      port: 5432,
      user: SUPERUSER,
      password: readFileSync(place.passwordFile, 'utf8').trim(),
      database,
      ssl: false,
    };
  }

  /** Connections of whoever adds the gateway's records. */
  writerPool(): Promise<PoolConfig> {
    if (this.#writer === undefined) {
      this.#writer = this.pool().then(writerLogin);
      this.#writer.catch(() => (this.#writer = undefined));
    }
    return this.#writer;
  }

  /** In good order. */
  async stop(): Promise<void> {
    this.#ending = true;
    const running = await this.#running?.catch(() => undefined);
    this.#running = undefined;
    this.#writer = undefined;
    if (running === undefined) return;
    await running.server.stop();
    rmSync(this.#runtime, { recursive: true, force: true });
    running.unlock();
    this.#report('stopped');
  }

  async #start(): Promise<Running> {
    const { dataDir, sandboxUid, log } = this.#options;
    this.#report('starting');
    refusePglite(dataDir);
    const found = findPostgres();
    const place = placeCluster({ dataDir, sandboxUid, isRoot: this.#isRoot });
    if (place.moved !== undefined)
      log.warn({ folder: place.home }, `${place.moved}: it is kept in ${place.home}`);
    const unlock = lockDataDir(place.home);
    try {
      checkCluster(place, found);
      const binaries = placeBinaries(found, place.user, place.home);
      if ((await endStaleServer(place.cluster)) === 'ended')
        log.warn({}, 'the embedded database of a gateway that was killed was still running: it was ended');
      await makeCluster(place, binaries, sandboxUid);
      const socketDir = placeSocket(place, this.#runtime);
      configureCluster(place, socketDir);
      const server = await this.#launch(place, binaries);
      markCluster(place, found);
      const running = { place, binaries, socketDir, unlock, server };
      this.#watch(running);
      return running;
    } catch (error) {
      rmSync(this.#runtime, { recursive: true, force: true });
      unlock();
      this.#report('stopped');
      throw error;
    }
  }

  async #launch(place: Placement, binaries: string): Promise<ServerProcess> {
    const { log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const server = new ServerProcess(place, binaries, {
        said: (line) => log.debug({ database: line }, 'the embedded database says'),
        recovering: (step) => this.#report(`recovering: ${step}`),
      });
      try {
        await server.ready;
        this.#report('running');
        return server;
      } catch (error) {
        const isPassing = error instanceof EmbeddedPostgresError && error.message.includes(STILL_ENDING);
        if (!isPassing || attempt >= STILL_ENDING_TRIES) throw error;
        await pause(STILL_ENDING_PAUSE_MS);
      }
    }
  }

  /** A server that ends by itself, of too little memory say, is started anew; connections come back by themselves. */
  #watch(running: Running): void {
    const { log } = this.#options;
    void running.server.ended.then(async () => {
      for (let attempt = 0; !this.#ending; attempt += 1) {
        this.#report('starting');
        await pause(RESTART_AFTER_MS[Math.min(attempt, RESTART_AFTER_MS.length - 1)]);
        if (this.#ending) return;
        log.error({}, 'the embedded database has ended: it is started again');
        try {
          await endStaleServer(running.place.cluster);
          running.server = await this.#launch(running.place, running.binaries);
          this.#watch(running);
          return;
        } catch (error) {
          log.error({ err: error }, 'the embedded database cannot be started: it is tried again');
        }
      }
    });
  }

  #report(step: StartStep): void {
    this.#step = step;
    this.#hasRecovered ||= step.startsWith('recovering');
    for (const listener of this.#listeners) listener(step);
  }
}
