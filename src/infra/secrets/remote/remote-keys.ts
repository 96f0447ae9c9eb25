// RemoteKeys: KeyProvider over a key service. Data keys that were unwrapped stay in memory for a while; a service that is away is not asked
// by calls, but by one probe.
import { LRUCache } from 'lru-cache';
import { toolFailure } from '../../../contract/call/failure.ts';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { every, type Repeated } from '../../../lib/timers/every.ts';
import { within } from '../../../lib/timers/within.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { KeyProvider, WrappedDataKey } from '../../../ports/secrets/key-provider.ts';
import type { SecretPlace } from '../../../ports/secrets/secret-sealer.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { Counter } from '../../../ports/telemetry/metrics.ts';
import { placeText, unreadable } from '../envelope-sealer.ts';
import { KeyRefused, NotUnwrapped, type KeyIds, type KeyService } from './key-service.ts';
import { RequestQueue } from './request-queue.ts';

export interface RemoteKeysNeeds {
  readonly service: KeyService;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when that changes. */
  readonly tell: (isAway: boolean) => void;
  /** Requests to it, by whether they were answered. */
  readonly requests: { readonly answered: Counter; readonly failed: Counter };
  readonly cacheMs: number;
  readonly cacheKeys: number;
}

const ANSWER_WITHIN_MS = 3_000;
const PROBE_MS = 60_000;
const RETRY_MS = 5_000;
const JITTER = 0.1;
/** A flood of secrets that are not in memory is spread out, and what is beyond it refused. */
const AT_ONCE = 16;
const WAITING = 1_000;

export class RemoteKeys implements KeyProvider {
  readonly #needs: RemoteKeysNeeds;
  readonly #dataKeys: LRUCache<string, Buffer>;
  readonly #unwrapping = new Map<string, Promise<Buffer>>();
  readonly #queue = new RequestQueue(AT_ONCE, WAITING);
  readonly #stop = new AbortController();
  #ids: KeyIds | undefined;
  #isAway = false;
  #probedAt = 0;
  #probes: Repeated | undefined;

  constructor(needs: RemoteKeysNeeds) {
    this.#needs = needs;
    const { cacheKeys, cacheMs, clock } = needs;
    this.#dataKeys = new LRUCache({
      max: cacheKeys,
      ttl: cacheMs,
      perf: { now: () => clock.now() },
      ttlResolution: 0,
      dispose: (key) => void key.fill(0),
    });
  }

  get kind() {
    return this.#needs.service.kind;
  }

  /** It was asked, and did not answer, or refused this gateway. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** The first probe is not waited for: a service that is away holds up no start. */
  start(): void {
    const { clock } = this.#needs;
    // Looked at often, asked seldom: a call may have found it away since.
    const round = async () => {
      if (this.#isAway || clock.now() - this.#probedAt >= PROBE_MS) await this.#probe();
    };
    void this.#probe();
    this.#probes = every(clock, { ms: RETRY_MS, jitter: JITTER }, round, () => undefined);
  }

  /** Requests under way are broken off, and not waited for. */
  stop(): void {
    this.#stop.abort();
    void this.#probes?.stop();
    this.#dataKeys.clear();
  }

  reads(keyId: string): boolean {
    return this.#needs.service.reads(keyId);
  }

  async keyIds(): Promise<KeyIds> {
    if (this.#ids !== undefined && !this.#isAway) return this.#ids;
    return (this.#ids = await this.#ask((signal) => this.#needs.service.keyIds(signal)));
  }

  async wrap(dataKey: Buffer, place: SecretPlace): Promise<WrappedDataKey> {
    return this.#ask((signal) => this.#needs.service.wrap(dataKey, place, signal));
  }

  /** Calls that need the same key at the same moment share one request. The caller may overwrite what it gets. */
  async unwrap(wrapped: WrappedDataKey, place: SecretPlace): Promise<Buffer> {
    const name = `${wrapped.keyId}.${wrapped.wrapped.toString('base64')}|${placeText(place)}`;
    const kept = this.#dataKeys.get(name);
    if (kept !== undefined) return Buffer.from(kept);
    let asked = this.#unwrapping.get(name);
    if (asked === undefined) {
      asked = this.#unwrapOnce(name, wrapped, place).finally(() => this.#unwrapping.delete(name));
      this.#unwrapping.set(name, asked);
    }
    return Buffer.from(await asked);
  }

  async rotate(): Promise<string> {
    const { service } = this.#needs;
    await this.#ask((signal) => service.rotate(signal));
    this.#ids = await this.#ask((signal) => service.keyIds(signal));
    return this.#ids[0];
  }

  async #unwrapOnce(name: string, wrapped: WrappedDataKey, place: SecretPlace): Promise<Buffer> {
    const dataKey = await this.#ask((signal) => this.#needs.service.unwrap(wrapped, place, signal));
    // A copy: what falls out of memory is overwritten, and may be in somebody's hands at that moment.
    this.#dataKeys.set(name, Buffer.from(dataKey));
    return dataKey;
  }

  async #ask<Answer>(work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    if (this.#isAway) throw this.#away();
    const slot = this.#queue.enter();
    if (slot === undefined) throw this.#away('has more requests waiting than it can be asked now');
    await slot.turn;
    try {
      // Somebody ahead in the queue may have found it away.
      if (this.#isAway) throw this.#away();
      return await this.#askOnce(work);
    } catch (error) {
      throw this.#failureOf(error);
    } finally {
      slot.leave();
    }
  }

  async #askOnce<Answer>(work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const { clock, requests } = this.#needs;
    try {
      const answer = await within(clock, { ms: ANSWER_WITHIN_MS, signal: this.#stop.signal }, work);
      requests.answered.add();
      return answer;
    } catch (error) {
      requests.failed.add();
      throw error;
    }
  }

  #failureOf(error: unknown): unknown {
    if (error instanceof NotUnwrapped) return unreadable();
    // It was thrown here.
    if (error instanceof ToolFailure && isReason(error, 'SECRETS_PROVIDER_AWAY')) return error;
    if (error instanceof KeyRefused) {
      this.#needs.log.warn({ provider: this.kind, err: error }, 'the key service refused a request');
      return this.#away('refused the request');
    }
    this.#tell(error);
    return this.#away();
  }

  #away(what = 'does not answer, or refuses this gateway') {
    const message = `The key service of the secrets (${this.kind}) ${what}: calls that need a secret cannot run now.`;
    return toolFailure('SECRETS_PROVIDER_AWAY', message, { retryAfterMs: RETRY_MS });
  }

  /** Never rejects. */
  async #probe(): Promise<void> {
    this.#dataKeys.purgeStale();
    this.#probedAt = this.#needs.clock.now();
    try {
      this.#ids = await this.#askOnce((signal) => this.#needs.service.keyIds(signal));
      this.#tell(undefined);
    } catch (error) {
      this.#tell(error);
    }
  }

  #tell(error: unknown): void {
    const isAway = error !== undefined;
    if (isAway === this.#isAway || this.#stop.signal.aborted) return;
    this.#isAway = isAway;
    const { log, tell } = this.#needs;
    tell(isAway);
    const provider = this.kind;
    if (isAway)
      log.error(
        { provider, err: error },
        'the key service of the secrets is away: calls that need a secret whose key is not in memory are refused until it is back',
      );
    else log.info({ provider }, 'the key service of the secrets answers again');
  }
}
