// SettingsReload: what gateway.yaml says of loaders and toolsets, while the gateway runs. A file that cannot be used leaves those
// from before in force. Keys and roles have a look of their own, which waits for nothing: infra/keys/key-reload.ts.
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { every, type Repeated } from '../../lib/timers/every.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface SettingsReloadNeeds {
  readonly settings: Settings;
  /** The settings as the file and the environment say now. Throws Error. */
  readonly reread: () => Settings;
  /** Throws Error where they cannot be used; nothing is changed then. */
  readonly apply: (settings: Settings) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Looked at by its content, as keys are. */
const LOOK_MS = 1_000;

export class SettingsReload {
  readonly #needs: SettingsReloadNeeds;
  /** Hash of what was looked at last, good or not. */
  #seen: string | undefined;
  #looks: Repeated | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(needs: SettingsReloadNeeds) {
    this.#needs = needs;
  }

  /** Looks at once, as well: the file may have changed since it was read at the start. */
  start(): void {
    const { clock, log } = this.#needs;
    const failed = (err: unknown) =>
      log.error({ err }, 'gateway.yaml could not be checked for changes: it is checked again');
    this.#looks = every(clock, { ms: LOOK_MS }, () => this.check(), failed);
    void this.check();
  }

  async stop(): Promise<void> {
    await this.#looks?.stop();
    await this.#looking;
  }

  /** Resolves when loaders and toolsets are those of the file, if it can be used. Never rejects. */
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
      // Read as settings it would be all defaults: that it is being written is likelier.
      if (!isFirstLook && (text ?? '').trim() === '') throw new Error('the file is empty');
      apply(reread());
    } catch (err) {
      log.error(
        { file: settings.configFile, err },
        'gateway.yaml cannot be used as it is now: the loaders and toolsets from before stay in force until it can',
      );
    }
  }
}
