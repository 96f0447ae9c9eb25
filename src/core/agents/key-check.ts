// KeyCheck: whether the keys of this gateway open the secrets that the database holds. A data directory may have been left behind or
// brought back without its keys: a new key is made then, under the name of the old one, and nobody would know before the next call.
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { every, type Repeated } from '../../lib/timers/every.ts';
import type { SealedSecret, SealedSecretStore } from '../../ports/agents/agent-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';

export interface KeyCheckNeeds {
  readonly store: Pick<SealedSecretStore, 'secretsByKey' | 'wrappedBy'>;
  readonly sealer: Pick<SecretSealer, 'open'>;
  readonly clock: Clock;
  readonly log: Log;
  /** 1 while secrets cannot be opened. */
  readonly degraded: Gauge;
}

const EVERY_MS = 3_600_000;
/** While something is wrong, or could not be looked at. */
const SOON_MS = 60_000;
const JITTER = 0.1;
/** Of each key: one alone may have been changed in the database, which is no fault of the key. */
const SAMPLES = 3;

export class KeyCheck {
  readonly #needs: KeyCheckNeeds;
  #unopened: readonly string[] = [];
  #rounds: Repeated | undefined;

  constructor(needs: KeyCheckNeeds) {
    this.#needs = needs;
  }

  /** Ids of keys whose secrets cannot be opened here, each with how many there are. */
  get unopened(): readonly string[] {
    return this.#unopened;
  }

  /** Looks at once, and is not waited for: a key service that is away holds up no start. */
  start(): void {
    const { clock } = this.#needs;
    void this.check();
    this.#rounds = every(
      clock,
      { ms: SOON_MS, jitter: JITTER },
      () => this.check(),
      () => undefined,
    );
  }

  stop(): void {
    void this.#rounds?.stop();
  }

  /** Never rejects. Gives after how many milliseconds it should be looked at again. */
  async check(): Promise<number> {
    try {
      const counted = await this.#needs.store.secretsByKey();
      const found = await Promise.all(counted.map(({ keyId }) => this.#opens(keyId)));
      this.#tell(
        counted.filter((_, index) => found[index] === false).map((each) => `${each.keyId} (${each.secrets})`),
      );
      return found.every((opens) => opens === true) ? EVERY_MS : SOON_MS;
    } catch {
      // The database is away, which is told elsewhere: what was known of the keys stays.
      return SOON_MS;
    }
  }

  /** Undefined: nobody could say. */
  async #opens(keyId: string): Promise<boolean | undefined> {
    const samples = await this.#needs.store.wrappedBy(keyId, SAMPLES);
    const opened = await Promise.all(samples.map((each) => this.#isOpened(each)));
    if (opened.length === 0 || opened.includes(true)) return true;
    return opened.includes(undefined) ? undefined : false;
  }

  async #isOpened(secret: SealedSecret): Promise<boolean | undefined> {
    try {
      await this.#needs.sealer.open(secret.sealed, secret);
      return true;
    } catch (error) {
      if (!(error instanceof ToolFailure)) return undefined;
      return isReason(error, 'SECRET_UNREADABLE', 'SECRETS_KEY_MISSING') ? false : undefined;
    }
  }

  #tell(unopened: readonly string[]): void {
    const before = this.#unopened.join();
    this.#unopened = unopened;
    const { log, degraded } = this.#needs;
    degraded.set(unopened.length === 0 ? 0 : 1);
    if (unopened.join() === before) return;
    if (unopened.length === 0) log.info({}, 'the keys for secrets open what the database holds again');
    else log.error({ keys: unopened }, keysDoNotOpen(unopened));
  }
}

export function keysDoNotOpen(keys: readonly string[]): string {
  return `secrets of agents cannot be decrypted with the keys of this gateway, by key and number of secrets: ${keys.join(', ')}. Bring back the keys that belong to this database, or set these secrets again; calls that need one are refused`;
}
