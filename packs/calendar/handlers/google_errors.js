// Google's errors told apart where a status alone does not: a limit comes as 403, and a deleted event as 410.
// @ts-check
import { Refusal } from './refusal.js';

const LIMITS = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'quotaExceeded', 'dailyLimitExceeded']);

/** What `callTool` throws, as the caller of google_calendar is to read it. */
export function asRefusal(error) {
  if (typeof error?.type !== 'string') return error;
  const { status, upstream } = error.details ?? {};
  const reason = upstream?.body?.error?.errors?.[0]?.reason;
  if (status === 400) return new Refusal('VALIDATION', error.message, { reason: 'REFUSED_BY_GOOGLE' });
  if (status === 403 && LIMITS.has(reason))
    return new Refusal('RATE_LIMIT', 'Google Calendar takes no more requests of this account for now.');
  if (status === 410) return new Refusal('NOT_FOUND', 'The event was deleted.', { reason: 'GONE' });
  const { type, reason: told, retryable, retryAfterMs } = error;
  return new Refusal(type, error.message, {
    reason: told,
    retryable,
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
  });
}
