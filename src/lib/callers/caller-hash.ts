// For whom a call is made: what one agent, user and session left is not there for another, even where one key serves them all.
import { hash } from 'node:crypto';

interface Caller {
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Each with its length before it: no two callers are written alike. Of a length of its own, as part of a key of a table. */
export function callerHash({ agentId = '', userId = '', sessionId = '' }: Caller): string {
  if (agentId === '' && userId === '' && sessionId === '') return '';
  const written = [agentId, userId, sessionId].map((part) => `${Buffer.byteLength(part)}:${part}`);
  return hash('sha256', written.join(''));
}
