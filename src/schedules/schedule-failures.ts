// Why something cannot be done with a schedule.
import { ToolFailure } from '../contract/call/tool-failure.ts';

export function notFound(): ToolFailure {
  return new ToolFailure('NOT_FOUND', 'There is no schedule of this id.', { reason: 'SCHEDULE_NOT_FOUND' });
}

export function finished(): ToolFailure {
  const message = 'This schedule has finished: make a new one.';
  return new ToolFailure('CONFLICT', message, { reason: 'SCHEDULE_FINISHED' });
}

export function otherVersion(): ToolFailure {
  const message = 'The schedule was changed meanwhile: look at it again.';
  return new ToolFailure('CONFLICT', message, { reason: 'VERSION_MISMATCH' });
}

export function tooMany(maxPerTenant: number): ToolFailure {
  const message = `Your tenant has ${maxPerTenant} schedules already: delete some first.`;
  return new ToolFailure('CONCURRENCY_LIMIT', message, { reason: 'TOO_MANY_SCHEDULES', retryable: false });
}

export function notTheOwner(): ToolFailure {
  const message = 'When a schedule runs is for the credential that made it to say.';
  return new ToolFailure('PERMISSION_DENIED', message, { reason: 'NOT_THE_OWNER' });
}

export function adminNeeded(): ToolFailure {
  const message = 'This schedule belongs to another credential: changing it needs the permission admin.';
  const details = { permission: 'admin' };
  return new ToolFailure('PERMISSION_DENIED', message, { reason: 'PERMISSION_MISSING', details });
}
