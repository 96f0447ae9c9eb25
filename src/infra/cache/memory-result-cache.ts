// MemoryResultCache: answers of one process, the least recently used dropped first. Each step is one synchronous move.
import type { Clock } from '../../ports/clock.ts';
import type { CacheLook, CacheQuestion, KeepTerms, ResultCache } from '../../ports/result-cache.ts';

export interface ResultCacheBounds {
  readonly maxEntries: number;
  /** Keys and values together, as UTF-8. */
  readonly maxBytes: number;
}

interface Entry {
  readonly value: string;
  readonly bytes: number;
  readonly endsAt: number;
}

interface Lead {
  readonly token: string;
  readonly endsAt: number;
}

export class MemoryResultCache implements ResultCache {
  readonly #clock: Clock;
  readonly #bounds: ResultCacheBounds;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** Oldest first. */
  readonly #leads = new Map<string, Lead>();
  #bytes = 0;

  constructor(clock: Clock, bounds: ResultCacheBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  async look(key: string, { token, leadMs, staleMs, maxBytes }: CacheQuestion): Promise<CacheLook> {
    const now = this.#clock.now();
    const entry = this.#alive(key, now);
    const value = entry === undefined || Buffer.byteLength(entry.value) > maxBytes ? undefined : entry.value;
    if (entry !== undefined && value !== undefined && entry.endsAt - now > staleMs)
      return { value, fresh: true, lead: false };
    return { value, fresh: false, lead: this.#takeLead(key, token, now + leadMs, now) };
  }

  async keep(key: string, value: string, { token, lifeMs }: KeepTerms): Promise<void> {
    this.#drop(key);
    const bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
    if (bytes <= this.#bounds.maxBytes) {
      this.#entries.set(key, { value, bytes, endsAt: this.#clock.now() + lifeMs });
      this.#bytes += bytes;
      this.#makeRoom();
    }
    await this.release(key, token);
  }

  async release(key: string, token: string): Promise<void> {
    if (this.#leads.get(key)?.token === token) this.#leads.delete(key);
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries.size, bytes: this.#bytes };
  }

  #alive(key: string, now: number): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.endsAt > now) this.#entries.set(key, entry);
    else this.#bytes -= entry.bytes;
    return entry.endsAt > now ? entry : undefined;
  }

  #takeLead(key: string, token: string, endsAt: number, now: number): boolean {
    const held = this.#leads.get(key);
    if (held !== undefined && held.endsAt > now && held.token !== token) return false;
    this.#leads.delete(key);
    this.#leads.set(key, { token, endsAt });
    // Leads end with their calls; those that never do are the oldest.
    const [oldest] = this.#leads.keys();
    if (this.#leads.size > this.#bounds.maxEntries && oldest !== undefined) this.#leads.delete(oldest);
    return true;
  }

  #makeRoom(): void {
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= this.#bounds.maxEntries && this.#bytes <= this.#bounds.maxBytes) return;
      this.#drop(key);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
