// For whom a keyed call is made: the same key of another agent, user or session is another key.
import { hash } from 'node:crypto';
import type { ToolContext } from '../../contract/tool-context.ts';

/** Each with its length before it: no two callers are written alike. Of a length of its own, as part of a key of a table. */
export function callerHash({ agentId = '', userId = '', sessionId = '' }: ToolContext): string {
  if (agentId === '' && userId === '' && sessionId === '') return '';
  const written = [agentId, userId, sessionId].map((part) => `${Buffer.byteLength(part)}:${part}`);
  return hash('sha256', written.join(''));
}
