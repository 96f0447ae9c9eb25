// What an id of a session looks like that this gateway has made: any other text in context.session_id was never declared.
import { uuidv7 } from '../lib/ids.ts';

const ID = /^ses_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isDeclared(sessionId: string): boolean {
  return sessionId.startsWith('ses_') && ID.test(sessionId);
}

/** `now` in epoch milliseconds. In the order of their making. */
export function newSessionId(now: number): string {
  return `ses_${uuidv7(now)}`;
}
