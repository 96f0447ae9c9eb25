// Generations of groups of answers: a tool that changes something begins the next, and what was kept in the one before is not found again.
import { hash, randomUUID } from 'node:crypto';
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { ResultCache } from '../../ports/result-cache.ts';
import type { CacheOptions } from './options.ts';

/** One that is forgotten is followed by another: then answers are made anew, and none is found that should not be. */
const LIFE_MS = 86_400_000;
const QUESTION = { leadMs: 1, staleMs: 0, maxBytes: 64 };
/** Answers that everybody shares are of no tenant. */
const EVERYBODY = '';

interface Needs {
  readonly resultCache: ResultCache;
  readonly log: Log;
}

export class Generations {
  readonly #store: ResultCache;
  readonly #log: Log;

  constructor({ resultCache, log }: Needs) {
    this.#store = resultCache;
    this.#log = log;
  }

  /** Rejects when the store does. */
  async current(call: ToolCall, group: string, scope: CacheOptions['scope']): Promise<string> {
    const tenant = scope === 'global' ? EVERYBODY : (call.context.tenantId ?? EVERYBODY);
    const key = keyOf(tenant, group);
    const { value } = await this.#store.look(key, { ...QUESTION, token: call.id });
    return value ?? this.#begin(key, call);
  }

  /** Before the answer is given: who reads it asks for what has changed. What surely changed nothing drops nothing. */
  async dropAfter(call: ToolCall, response: ToolResponse, groups: readonly string[]): Promise<void> {
    if (call.context.dryRun === true) return;
    if (!response.ok && !response.error.partialSideEffects) return;
    const tenants = new Set([call.context.tenantId ?? EVERYBODY, EVERYBODY]);
    const keys = groups.flatMap((group) => [...tenants].map((tenant) => keyOf(tenant, group)));
    try {
      await Promise.all(keys.map((key) => this.#begin(key, call)));
    } catch (error) {
      call.progress.degraded.push('cache');
      this.#log.warn(
        { ...callLogFields(call), groups, err: error },
        'Cached answers could not be dropped after a change: they may be given until their time is over',
      );
    }
  }

  async #begin(key: string, { id }: ToolCall): Promise<string> {
    const generation = randomUUID();
    await this.#store.keep(key, generation, { token: id, lifeMs: LIFE_MS });
    return generation;
  }
}

function keyOf(tenant: string, group: string): string {
  return hash('sha256', JSON.stringify(['generation', tenant, group]), 'base64url');
}
