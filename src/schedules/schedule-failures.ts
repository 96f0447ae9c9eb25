// Why something cannot be done with a schedule.
import { toolFailure } from '../contract/call/failure.ts';
import type { ToolFailure } from '../contract/call/tool-failure.ts';

export function notFound(): ToolFailure {
  return toolFailure('SCHEDULE_NOT_FOUND', 'There is no schedule of this id.');
}

export function finished(): ToolFailure {
  return toolFailure('SCHEDULE_FINISHED', 'This schedule has finished: make a new one.');
}

export function otherVersion(): ToolFailure {
  return toolFailure('VERSION_MISMATCH', 'The schedule was changed meanwhile: look at it again.');
}

/** `who`: the beginning of a sentence. */
export function tooMany(limit: number, who: string): ToolFailure {
  const message = `${who} ${limit} schedules already: delete some first.`;
  return toolFailure('TOO_MANY_SCHEDULES', message, { retryable: false });
}

export function notTheOwner(): ToolFailure {
  return toolFailure('NOT_THE_OWNER', 'When a schedule runs is for the credential that made it to say.');
}

export function adminNeeded(): ToolFailure {
  const message = 'This schedule belongs to another credential: changing it needs the permission admin.';
  const details = { permission: 'admin' };
  return toolFailure('PERMISSION_MISSING', message, { details });
}

export function tooOften(minIntervalMs: number): ToolFailure {
  const message = `comes more often than every ${minIntervalMs / 1_000} seconds, which is as often as it may here`;
  return toolFailure('SCHEDULE_TOO_OFTEN', `/schedule ${message}.`, {
    details: { violations: [{ pointer: '/schedule', message }] },
  });
}
