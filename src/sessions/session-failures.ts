// What callers are told of sessions.
import { toolFailure } from '../contract/call/failure.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';

/** The same for a session of another tenant, agent or user: nobody learns which there are. */
export function notFound(): ToolFailure {
  return toolFailure('SESSION_NOT_FOUND', 'There is no session of this id for this caller.');
}

export function ended(): ToolFailure {
  return toolFailure('SESSION_ENDED', 'This session has been ended: open another one.');
}

export function expired(): ToolFailure {
  return toolFailure(
    'SESSION_EXPIRED',
    'This session is over: it was not used for too long, or is too old. Open another one.',
  );
}

export function required(): ToolFailure {
  const message =
    'This gateway takes calls within sessions alone: name one of POST /v1/sessions in context.session_id.';
  return new ToolFailure('VALIDATION', message, {
    reason: 'SESSION_REQUIRED',
    details: { field: 'session_id' },
  });
}

export function otherMode(mode: string): ToolFailure {
  return toolFailure('SESSION_MODE', `The session is one of ${mode}: its calls are made in that mode.`, {
    details: { mode },
  });
}

export function unknownTurn(turn: number): ToolFailure {
  return toolFailure(
    'TURN_UNKNOWN',
    `The session has no such turn: its turns are numbers, and context.turn_id must be one of 1 to ${turn}, or left out.`,
    {
      details: { field: 'turn_id' },
    },
  );
}

export function toolGone(message: string): ToolFailure {
  return toolFailure('VERSION_GONE', message);
}

export function tooMany(most: number): ToolFailure {
  return toolFailure('TOO_MANY_SESSIONS', `The tenant has ${most} sessions that are not over: end some.`, {
    retryAfterMs: 60_000,
  });
}

export function busy(): ToolFailure {
  return toolFailure('SESSIONS_BUSY', 'Too many sessions are being looked for.', { retryAfterMs: 1_000 });
}
