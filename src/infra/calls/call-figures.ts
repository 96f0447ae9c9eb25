// CallFigures: what calls add up to, from the audit records of their ends. A few questions at a time, of so many records at most.
import { DatabaseError } from 'pg';
import { toolFailure } from '../../contract/call/failure.ts';
import { SharedTurns } from '../../lib/concurrency/shared-turns.ts';
import type { AnalyticsQuery, CallAnalytics } from '../../ports/calls/call-analytics.ts';
import type { CallSequences, SequencesQuery } from '../../ports/calls/call-sequences.ts';
import type { Database } from '../postgres/database.ts';
import { countCalls, MOST_RECORDS } from './count-calls.ts';
import { countSequences } from './count-sequences.ts';

/** Each of them reads many rows: connections are left for others, who look for one. */
const AT_ONCE = 2;
const MOST_ASKED = 64;
/** One tenant leaves room for others to wait in. */
const MOST_OF_TENANT = 10;
const RETRY_AFTER_MS = 5_000;
/** SQLSTATE of a statement that has taken all the time that it may. */
const TIMED_OUT = '57014';

export class CallFigures {
  readonly #db: Database['db'];
  readonly #most: number;
  readonly #turns = new SharedTurns(AT_ONCE);
  readonly #asked = new Map<string, number>();

  constructor(db: Database['db'], most = MOST_RECORDS) {
    this.#db = db;
    this.#most = most;
  }

  /** Throws ToolFailure UNAVAILABLE (ANALYTICS_BUSY), and what the database throws. */
  of(tenantId: string, query: AnalyticsQuery): Promise<CallAnalytics> {
    return this.#inTurn(tenantId, () => countCalls(this.#db, tenantId, query, this.#most));
  }

  /** Throws as `of` does. */
  sequences(tenantId: string, query: SequencesQuery): Promise<CallSequences> {
    return this.#inTurn(tenantId, () => countSequences(this.#db, tenantId, query, this.#most));
  }

  async #inTurn<Found>(tenantId: string, count: () => Promise<Found>): Promise<Found> {
    this.#begin(tenantId);
    try {
      return await this.#turns.run(tenantId, count);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== TIMED_OUT) throw error;
      throw busy('The calls of this time could not be counted soon enough: ask for a shorter one.', error);
    } finally {
      this.#end(tenantId);
    }
  }

  #begin(tenantId: string): void {
    const ofTenant = this.#asked.get(tenantId) ?? 0;
    const all = [...this.#asked.values()].reduce((sum, each) => sum + each, 0);
    if (ofTenant >= MOST_OF_TENANT || all >= MOST_ASKED)
      throw busy('Too many ask for figures of calls at once.');
    this.#asked.set(tenantId, ofTenant + 1);
  }

  #end(tenantId: string): void {
    const left = (this.#asked.get(tenantId) ?? 1) - 1;
    if (left > 0) this.#asked.set(tenantId, left);
    else this.#asked.delete(tenantId);
  }
}

function busy(message: string, cause?: unknown) {
  return toolFailure('ANALYTICS_BUSY', message, { retryAfterMs: RETRY_AFTER_MS, cause });
}
