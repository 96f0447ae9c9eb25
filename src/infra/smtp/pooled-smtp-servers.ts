// PooledSmtpServers: a pool of connections for each mail server, account and owner; those that nobody uses give way to others.
import { hash } from 'node:crypto';
import { toolFailure } from '../../contract/call/failure.ts';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import {
  SmtpRefusal,
  type MailMessage,
  type MailReceipt,
  type SendOptions,
  type SmtpServer,
  type SmtpServers,
} from '../../ports/egress/smtp-servers.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { NameResolver } from '../dns/name-resolver.ts';
import { realOutside, type Outside } from '../http/guarded-connector.ts';
import type { MailPool } from './mail-pool.ts';
import { defineSmtpMetrics, type SmtpMetrics } from './smtp-metrics.ts';

/** That are kept for the next message. */
const MOST_POOLS = 256;

export interface PooledSmtpOptions {
  readonly outside?: Outside;
  readonly mostPools?: number;
}

export class PooledSmtpServers implements SmtpServers {
  readonly #metrics: SmtpMetrics;
  readonly #outside: Outside;
  readonly #mostPools: number;
  /** By a hash, since the key holds a password; in the order of their last use. */
  readonly #pools = new Map<string, MailPool>();
  #isClosed = false;

  constructor(metrics: Metrics, { outside, mostPools = MOST_POOLS }: PooledSmtpOptions = {}) {
    this.#metrics = defineSmtpMetrics(metrics);
    this.#outside = outside ?? realOutside(new NameResolver());
    this.#mostPools = mostPools;
  }

  async send(server: SmtpServer, message: MailMessage, options: SendOptions): Promise<MailReceipt> {
    try {
      // The library is loaded by the first message.
      const { MailPool } = await import('./mail-pool.ts');
      const receipt = await this.#poolOf(server, MailPool).send(message, options);
      this.#count(receipt.rejected.length === 0 ? 'accepted' : 'partly_accepted');
      return receipt;
    } catch (error) {
      this.#count(options.signal.aborted ? 'abandoned' : outcomeOf(error));
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
  }

  #poolOf(server: SmtpServer, Pool: typeof MailPool): MailPool {
    if (this.#isClosed)
      throw toolFailure('DRAINING', 'The gateway is shutting down.', { partialSideEffects: false });
    const key = hash('sha256', JSON.stringify(server));
    const known = this.#pools.get(key);
    if (known === undefined) this.#makeRoom();
    const pool = known ?? new Pool(server, this.#outside, this.#metrics);
    this.#pools.delete(key);
    this.#pools.set(key, pool);
    return pool;
  }

  /** Those in use stay, however many: each is a call that runs, and no tenant's servers keep another tenant from its own. */
  #makeRoom(): void {
    for (const [key, pool] of this.#pools) {
      if (this.#pools.size < this.#mostPools) return;
      if (!pool.isIdle) continue;
      this.#pools.delete(key);
      pool.close();
    }
  }

  #count(outcome: string): void {
    this.#metrics.messages.with(outcome).add();
  }
}

function outcomeOf(error: unknown): string {
  if (error instanceof SmtpRefusal) return error.code < 500 ? 'deferred' : 'refused';
  if (!(error instanceof ToolFailure)) return 'failed';
  return isReason(error, 'DELIVERY_UNKNOWN') ? 'unknown' : 'not_sent';
}
