// The sessions of 2025-era clients. An id says by itself what its client has declared, so that any replica understands it, and
// lets nobody in: each request shows its credential. What a replica remembers beside it is the level of log messages.
import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';

export const SESSION_HEADER = 'mcp-session-id';

const FORM = /^ute1-(n|u)-[A-Za-z0-9_-]{22}$/;
const MOST_LEVELS = 10_000;

/** A new one, for a client that declares these capabilities. */
export function newSession(capabilities: JsonValue | undefined): string {
  const elicitation = isJsonObject(capabilities) ? capabilities['elicitation'] : undefined;
  const byUrl = isJsonObject(elicitation) && isJsonObject(elicitation['url']);
  return `ute1-${byUrl ? 'u' : 'n'}-${randomBytes(16).toString('base64url')}`;
}

export function isSession(said: string): boolean {
  return FORM.test(said);
}

/** Whether the client opens URLs for its user. */
export function opensUrls(session: string | undefined): boolean {
  return session !== undefined && FORM.exec(session)?.[1] === 'u';
}

/** By session: the least level that its client wants to hear of. Of the sessions that were used last. */
export class LogLevels {
  readonly #levels = new LRUCache<string, string>({ max: MOST_LEVELS });

  set(session: string, level: string): void {
    this.#levels.set(session, level);
  }

  of(session: string | undefined): string | undefined {
    return session === undefined ? undefined : this.#levels.get(session);
  }
}
