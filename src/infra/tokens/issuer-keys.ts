// IssuerKeys: the public keys of one issuer, in memory. Read again ahead of need; those that were known hold while it is away.
import { hash } from 'node:crypto';
import type { JWK } from 'jose';
import { every, type Repeated } from '../../lib/timers/every.ts';
import { within } from '../../lib/timers/within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';

export interface IssuerKeysNeeds {
  readonly issuer: string;
  readonly refreshMs: number;
  /** Rejects with Error. */
  readonly read: (signal: AbortSignal) => Promise<readonly JWK[]>;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when that changes. */
  readonly tell: (isAway: boolean) => void;
}

/** What verification holds on to: another object where any key came or went. */
export interface KeySet {
  readonly keys: readonly JWK[];
}

const READ_WITHIN_MS = 5_000;
/** Whoever writes unknown key ids into tokens has the issuer asked no more often than this. */
const COOL_DOWN_MS = 30_000;
/** While there are no keys at all, or they cannot be read. */
const RETRY_MS = 10_000;
const JITTER = 0.1;

export class IssuerKeys {
  readonly #needs: IssuerKeysNeeds;
  readonly #stop = new AbortController();
  #current: KeySet | undefined;
  #hash = '';
  #isAway = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #rounds: Repeated | undefined;

  constructor(needs: IssuerKeysNeeds) {
    this.#needs = needs;
  }

  /** Undefined: they could not be read yet. */
  get current(): KeySet | undefined {
    return this.#current;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** The first reading is not waited for: an issuer that is away holds up no start. */
  start(): void {
    const { clock, refreshMs } = this.#needs;
    const pauseMs = () => (this.#isAway ? Math.min(RETRY_MS, refreshMs) : refreshMs);
    const round = async () => {
      await this.#read();
      return pauseMs();
    };
    void this.#read();
    this.#rounds = every(clock, { ms: RETRY_MS, jitter: JITTER }, round, () => undefined);
  }

  /** A reading under way is broken off, and not waited for. */
  stop(): void {
    this.#stop.abort();
    void this.#rounds?.stop();
  }

  /** For a token whose key is not known: asks the issuer, unless it was asked just now. Never rejects. */
  async askAgain(): Promise<void> {
    if (this.#reading === undefined && this.#needs.clock.now() - this.#askedAt < COOL_DOWN_MS) return;
    await this.#read();
  }

  /** One at a time, whoever asks meanwhile. Never rejects. */
  #read(): Promise<void> {
    return (this.#reading ??= this.#readOnce().finally(() => (this.#reading = undefined)));
  }

  async #readOnce(): Promise<void> {
    const { clock, read } = this.#needs;
    this.#askedAt = clock.now();
    try {
      const keys = await within(clock, { ms: READ_WITHIN_MS, signal: this.#stop.signal }, read);
      this.#take(keys);
      this.#tell(undefined);
    } catch (error) {
      this.#tell(error);
    }
  }

  #take(keys: readonly JWK[]): void {
    const { issuer, log } = this.#needs;
    const text = hash('sha256', JSON.stringify(keys));
    if (text === this.#hash || this.#stop.signal.aborted) return;
    if (this.#current !== undefined)
      log.info({ issuer, kids: keys.map(({ kid }) => kid) }, 'the issuer has other keys now');
    this.#hash = text;
    this.#current = { keys };
  }

  #tell(error: unknown): void {
    const isAway = error !== undefined;
    if (isAway === this.#isAway || this.#stop.signal.aborted) return;
    this.#isAway = isAway;
    const { issuer, log, tell } = this.#needs;
    tell(isAway);
    if (isAway)
      log.error(
        { issuer, err: error },
        'the keys of the issuer cannot be read: those that were known stay in force, and tokens of any other are refused',
      );
    else log.info({ issuer }, 'the keys of the issuer can be read again');
  }
}
