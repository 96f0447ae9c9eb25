// MemoryResultCache: answers of one process, the least recently used dropped first. Each step is one synchronous move.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../ports/clock.ts';
import type { CacheLook, CacheQuestion, KeepTerms, ResultCache } from '../../ports/result-cache.ts';
import { MemoryLeads } from './memory-leads.ts';

export interface ResultCacheBounds {
  readonly maxEntries: number;
  /** Keys and values together, as UTF-8. */
  readonly maxBytes: number;
}

/** A life of no time at all would be one without an end to the cache, and one of a fraction no life. */
const LEAST_MS = 1;

export class MemoryResultCache implements ResultCache {
  readonly #entries: LRUCache<string, string>;
  readonly #leads: MemoryLeads;

  constructor(clock: Clock, { maxEntries, maxBytes }: ResultCacheBounds) {
    this.#entries = new LRUCache({
      max: maxEntries,
      perf: { now: () => clock.now() },
      ttlResolution: 0,
      maxSize: maxBytes,
      sizeCalculation: (value, key) => Buffer.byteLength(key) + Buffer.byteLength(value),
    });
    this.#leads = new MemoryLeads(clock, maxEntries);
  }

  async look(key: string, { token, leadMs, staleMs, maxBytes }: CacheQuestion): Promise<CacheLook> {
    const kept = alive(this.#entries, key);
    const value = kept === undefined || Buffer.byteLength(kept) > maxBytes ? undefined : kept;
    if (value !== undefined && this.#entries.getRemainingTTL(key) > staleMs)
      return { value, fresh: true, lead: false };
    return { value, fresh: false, lead: this.#leads.take(key, token, lifeOf(leadMs)) };
  }

  async keep(key: string, value: string, { token, lifeMs }: KeepTerms): Promise<void> {
    // What is larger than the whole cache is not kept, and takes the place of nothing but its own older answer.
    this.#entries.set(key, value, { ttl: lifeOf(lifeMs) });
    await this.release(key, token);
  }

  async release(key: string, token: string): Promise<void> {
    this.#leads.release(key, token);
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries.size, bytes: this.#entries.calculatedSize };
  }
}

/** Its last millisecond is over when its life is, and not one later. */
function alive(cache: LRUCache<string, string>, key: string): string | undefined {
  if (cache.getRemainingTTL(key) > 0) return cache.get(key);
  cache.delete(key);
  return undefined;
}

function lifeOf(ms: number): number {
  return Math.max(LEAST_MS, Math.ceil(ms));
}
