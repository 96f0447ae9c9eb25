// WatchedSettings: gateway.yaml while the gateway runs. It is read once for each change, and every part that follows it sees the
// same text. What a part cannot use stays there as it was, and keeps no other part from what the file says.
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { reasonOf } from '../../lib/text/read-text.ts';
import { every, type Repeated } from '../../lib/timers/every.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { SettingsError } from '../../settings/problems/settings-error.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface SettingsListener {
  /** What of the file it follows, as the log names it. */
  readonly follows: string;
  /** Throws Error where they cannot be used: nothing is changed then, and it is asked again at the next look. */
  readonly apply: (settings: Settings) => void;
  /** The file cannot be used, but for its auth. Left out: nothing changes then. Throws as `apply` does. */
  readonly applyAuth?: (auth: Settings['auth']) => void;
}

export interface WatchedSettingsNeeds {
  readonly file: string;
  /** The settings as this text and the environment say; undefined: there is no file. Throws Error. */
  readonly read: (text: string | undefined) => Settings;
  readonly clock: Clock;
  readonly log: Log;
}

/** Looked at by its content: times and events do not come with every kind of mount. */
const LOOK_MS = 1_000;

/** What the file said at the last look, as settings. */
type Said = { readonly settings: Settings } | { readonly auth: Settings['auth'] | undefined };

interface Follower {
  readonly listener: SettingsListener;
  isUpToDate: boolean;
  /** It is told once for each text. */
  isToldOfFailure: boolean;
}

export class WatchedSettings {
  readonly #needs: WatchedSettingsNeeds;
  readonly #followers: Follower[] = [];
  /** Hash of what was looked at last, good or not. */
  #seen: string | undefined;
  #said: Said | undefined;
  /** Why it could not be read at the last look; it is told once for each reason. */
  #unread: string | undefined;
  #stopped = false;
  #looks: Repeated | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(needs: WatchedSettingsNeeds) {
    this.#needs = needs;
  }

  /** Hears at once what was seen last, if the file was looked at already. */
  listen(listener: SettingsListener): void {
    const follower = { listener, isUpToDate: false, isToldOfFailure: false };
    this.#followers.push(follower);
    this.#tell(follower);
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
    this.#stopped = true;
    await this.#looks?.stop();
    await this.#looking;
  }

  /** Resolves when every part is as the file says, as far as it can be used. Never rejects. */
  check(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#check());
    return this.#looking;
  }

  async #check(): Promise<void> {
    const isFirstLook = this.#seen === undefined;
    const found = await lookAt(this.#needs.file, isFirstLook);
    if (this.#stopped) return;
    if ('unread' in found) this.#tellUnread(found.unread);
    else this.#take(found.text, isFirstLook);
    for (const follower of this.#followers) this.#tell(follower);
  }

  #take(text: string | undefined, isFirstLook: boolean): void {
    this.#unread = undefined;
    const seen = text === undefined ? 'none' : hash('sha256', text);
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#said = this.#settingsOf(text, isFirstLook);
    for (const follower of this.#followers)
      Object.assign(follower, { isUpToDate: false, isToldOfFailure: false });
  }

  /** What it says is not known then: every part stays with what it said last. */
  #tellUnread(reason: string): void {
    if (reason === this.#unread) return;
    this.#unread = reason;
    const { file, log } = this.#needs;
    log.error(
      { file, reason },
      'gateway.yaml cannot be read: keys, loaders and toolsets stay as they were until it can',
    );
  }

  #settingsOf(text: string | undefined, isFirstLook: boolean): Said {
    const { file, read, log } = this.#needs;
    try {
      // Read as settings it would be all defaults, and no key: that it is being written is likelier.
      if (!isFirstLook && text?.trim() === '') throw new Error('the file is empty');
      return { settings: read(text) };
    } catch (err) {
      const auth = err instanceof SettingsError ? err.auth : undefined;
      const still =
        auth === undefined
          ? 'keys, loaders and toolsets stay as they were until it can'
          : 'its keys and roles are in force, loaders and toolsets stay as they were until it can';
      log.error({ file, err }, `gateway.yaml cannot be used as it is now: ${still}`);
      return { auth };
    }
  }

  #tell(follower: Follower): void {
    const said = this.#said;
    if (said === undefined || follower.isUpToDate) return;
    const { file, log } = this.#needs;
    const { follows, apply, applyAuth } = follower.listener;
    try {
      if ('settings' in said) apply(said.settings);
      else if (said.auth !== undefined) applyAuth?.(said.auth);
      follower.isUpToDate = true;
    } catch (err) {
      if (!follower.isToldOfFailure)
        log.error(
          { file, err },
          `${follows} of gateway.yaml cannot be used: they stay as they were until they can`,
        );
      follower.isToldOfFailure = true;
    }
  }
}

/** There need not be one at the start. One that is gone later is likelier to be on its way back. */
async function lookAt(
  file: string,
  mayBeMissing: boolean,
): Promise<{ readonly text: string | undefined } | { readonly unread: string }> {
  try {
    return { text: await readFile(file, 'utf8') };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && mayBeMissing) return { text: undefined };
    return { unread: `the file ${reasonOf(error)}` };
  }
}
