// A task as its caller is told of it: the columns of a scheduled task, what was understood, and how it went.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { OwnRun, OwnSchedule } from '../../ports/calls/caller-schedules.ts';

export function viewOf({ schedule, run }: OwnSchedule, runner: string): JsonObject {
  const { terms, lastStatus } = schedule;
  const { when } = terms;
  return {
    id: schedule.id,
    task_type: schedule.taskType,
    description: schedule.description,
    schedule: terms.phrase,
    schedule_type: when.kind,
    schedule_data: when.kind === 'once' ? { at: iso(when.at) } : { cron: when.cron },
    time_zone: terms.timeZone,
    execution_data: dataOf(schedule.call.tool, schedule.call.request, runner),
    enabled: schedule.enabled,
    created_at: iso(schedule.createdAt),
    last_run: isoOrNull(schedule.lastRun),
    next_run: isoOrNull(schedule.nextRun),
    last_status: lastStatus === 'fired' && run !== undefined ? run.status : lastStatus,
    runs: schedule.runs,
  };
}

/** What was sensitive in it was masked when it was kept. */
function dataOf(tool: string, request: string, runner: string): JsonValue {
  const kept: unknown = JSON.parse(request);
  const { arguments: args, shown = args } = isJsonObject(kept) ? kept : {};
  if (!isJsonObject(shown)) return null;
  if (tool !== runner) return shown;
  const { execution_data: data = {}, email } = shown;
  return isJsonObject(data) && email !== undefined ? { ...data, email } : data;
}

/** More of an answer is left to be asked for. */
const MAX_ENVELOPE_CHARS = 32 * 1024;

export function runViewOf({ envelope, ...run }: OwnRun): JsonObject {
  return {
    call_id: run.callId,
    due_at: iso(run.fireTime),
    finished_at: isoOrNull(run.finishedAt),
    status: run.status,
    ...answerOf(envelope),
  };
}

function answerOf(envelope: string | undefined): JsonObject {
  if (envelope === undefined) return { result: null };
  if (envelope.length > MAX_ENVELOPE_CHARS) return { result: null, too_large: true };
  const answer: unknown = JSON.parse(envelope);
  if (!isJsonObject(answer)) return { result: null };
  const { data = null, error } = answer;
  if (!isJsonObject(error)) return { result: data };
  const { type = null, reason = null, message = null } = error;
  return { result: null, error: { type, reason, message } };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : iso(time);
}
