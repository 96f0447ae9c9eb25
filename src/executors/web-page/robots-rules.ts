// RobotsRules: whether sites let pages be fetched, by their robots.txt (RFC 9309). What was read of a site is kept for a while.
import { LRUCache } from 'lru-cache';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import { robotsDenied, robotsUnreadable } from './page-failures.ts';
import { visit, type Visitor } from './site-visit.ts';
import type { ReaderCall, ReaderThreads } from './threads/reader-threads.ts';

/** As much as the standard asks a robot to read. */
const MAX_BYTES = 512 * 1024;
const MAX_REDIRECTS = 5;
const WITHIN_MS = 5_000;
const KEPT_MS = 3_600_000;
/** Of a site that did not tell: it may soon. */
const KEPT_FAILURE_MS = 30_000;
const MOST_KEPT_BYTES = 8 * 1024 * 1024;
const MOST_KEPT = 1_000;
/** The site itself cannot be reached: to say that tells more than to say the same of a file of it. */
const NOT_REACHED = ['CONNECT_FAILED', 'DNS_TIMEOUT', 'EGRESS_DENIED', 'DRAINING'] as const;
const TOO_MANY_REQUESTS = 429;

/** `rules`: empty where everything is allowed. `why`: nobody knows what is. */
type Known = { readonly rules: Uint8Array } | { readonly why: unknown };
type Kept = Known & { readonly until: number };

export interface RobotsNeeds {
  readonly visitor: Visitor;
  readonly readers: ReaderThreads;
  readonly clock: Clock;
  /** As before each request for a page. Throws ToolFailure. */
  readonly checkHost: (url: URL) => void;
}

export class RobotsRules {
  readonly #needs: RobotsNeeds;
  readonly #kept = new LRUCache<string, Kept>({
    max: MOST_KEPT,
    maxSize: MOST_KEPT_BYTES,
    sizeCalculation: (known) => 100 + ('rules' in known ? known.rules.length : 0),
  });

  constructor(needs: RobotsNeeds) {
    this.#needs = needs;
  }

  /** Rejects with ToolFailure ROBOTS_DENIED or ROBOTS_UNREADABLE, with that of a site that is not reached, or as `read` of the threads. */
  async admit(url: URL, call: ReaderCall): Promise<void> {
    const known = await this.#of(url.origin, call);
    if ('why' in known) throw robotsUnreadable(url.host, known.why);
    if (known.rules.length === 0) return;
    const { readers, visitor } = this.#needs;
    const task = {
      kind: 'robots',
      body: known.rules,
      robotsUrl: robotsUrlOf(url.origin).href,
      url: url.href,
      userAgent: visitor.userAgent,
    } as const;
    const verdict = await readers.read(task, call).catch((error: unknown) => {
      // Rules that take too long to read are none that anybody can follow.
      throw error instanceof ToolFailure && isReason(error, 'PAGE_TOO_COMPLEX')
        ? robotsUnreadable(url.host, error)
        : error;
    });
    if (verdict.kind === 'robots' && !verdict.allowed) throw robotsDenied(url.host);
  }

  async #of(origin: string, call: ReaderCall): Promise<Known> {
    const now = this.#needs.clock.now();
    const kept = this.#kept.get(origin);
    if (kept !== undefined && kept.until > now) return kept;
    const known = await this.#ask(origin, call.signal);
    this.#kept.set(origin, { ...known, until: now + ('rules' in known ? KEPT_MS : KEPT_FAILURE_MS) });
    return known;
  }

  async #ask(origin: string, signal: AbortSignal): Promise<Known> {
    const late = new AbortController();
    const why = new Error(`It did not come within ${WITHIN_MS} ms.`);
    const disarm = this.#needs.clock.after(WITHIN_MS, () => late.abort(why));
    const { visitor, checkHost } = this.#needs;
    let isElsewhere = false;
    try {
      const { response } = await visit(robotsUrlOf(origin), visitor, {
        accept: 'text/plain, */*;q=0.5',
        maxBytes: MAX_BYTES,
        maxRedirects: MAX_REDIRECTS,
        signal: AbortSignal.any([signal, late.signal]),
        admit: (url) => {
          isElsewhere = url.origin !== origin;
          checkHost(url);
        },
        refuses: (status) => (status >= 200 && status < 300 ? undefined : new NoRules(status)),
      });
      return { rules: new Uint8Array(response.body) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NoRules) return error.allows ? { rules: new Uint8Array() } : { why: error };
      if (!isElsewhere && error instanceof ToolFailure && isReason(error, ...NOT_REACHED)) throw error;
      return { why: error };
    } finally {
      disarm();
    }
  }
}

/** A site without the file has no rules; one that is in trouble has rules that nobody knows. */
class NoRules extends Error {
  readonly allows: boolean;

  constructor(status: number) {
    super(`robots.txt was answered with HTTP ${status}`);
    this.allows = status >= 400 && status < 500 && status !== TOO_MANY_REQUESTS;
  }
}

function robotsUrlOf(origin: string): URL {
  return new URL('/robots.txt', origin);
}
