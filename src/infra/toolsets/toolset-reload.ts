// ToolsetReload: the toolsets of gateway.yaml while the gateway runs. A file that cannot be used leaves those from before in force.
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { every, type Repeated } from '../../lib/timers/every.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface ToolsetReloadNeeds {
  readonly settings: Settings;
  /** The settings as the file and the environment say now. Throws Error. */
  readonly reread: () => Settings;
  readonly apply: (toolsets: Settings['toolsets']) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Looked at by its content, as keys are. */
const LOOK_MS = 1_000;

export class ToolsetReload {
  readonly #needs: ToolsetReloadNeeds;
  /** Hash of what was looked at last, good or not. */
  #seen: string | undefined;
  #looks: Repeated | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(needs: ToolsetReloadNeeds) {
    this.#needs = needs;
  }

  /** Looks at once, as well: the file may have changed since it was read at the start. */
  start(): void {
    const { clock, log } = this.#needs;
    const failed = (err: unknown) =>
      log.error({ err }, 'gateway.yaml could not be checked for changed toolsets: it is checked again');
    this.#looks = every(clock, { ms: LOOK_MS }, () => this.check(), failed);
    void this.check();
  }

  async stop(): Promise<void> {
    await this.#looks?.stop();
    await this.#looking;
  }

  /** Resolves when the toolsets are those of the file, if it can be used. Never rejects. */
  check(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#check());
    return this.#looking;
  }

  async #check(): Promise<void> {
    const { settings, reread, apply, log } = this.#needs;
    const text = await readFile(settings.configFile, 'utf8').catch(() => undefined);
    const seen = text === undefined ? 'none' : hash('sha256', text);
    if (seen === this.#seen) return;
    const isFirstLook = this.#seen === undefined;
    this.#seen = seen;
    try {
      // Read as settings it would be no toolset at all: that it is being written is likelier.
      if (!isFirstLook && (text ?? '').trim() === '') throw new Error('the file is empty');
      apply(reread().toolsets);
    } catch (err) {
      log.error(
        { file: settings.configFile, err },
        'gateway.yaml cannot be used as it is now: the toolsets from before stay in force until it can',
      );
    }
  }
}
