// A schedule as REST writes it: what was understood, what is coming, and what has been.
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import type { SchedulePreview as Preview, ScheduleView } from '../../../schedules/schedules.ts';
import { firstAfter, upcoming } from '../../../schedules/when-due.ts';
import type {
  Schedule as Kept,
  ScheduledRun as Run,
  ScheduleTerms,
} from '../../../ports/calls/schedule-store.ts';
import type { WireOf } from '../route/shapes.ts';
import { wire } from '../route/wire.ts';
import { ScheduledRun, type ListedSchedule, type Schedule, type SchedulePreview } from './schema.ts';

const SHOWN = 5;

export function wireSchedule(view: ScheduleView): WireOf<typeof Schedule> {
  const { schedule, runs } = view;
  return {
    ...wireListed(view),
    next_runs: upcoming(schedule, SHOWN).map(iso),
    last_runs: runs.map(wireRun),
  };
}

/** As a list shows it: with its last run alone. */
export function wireListed({ schedule, runs, own }: ScheduleView): WireOf<typeof ListedSchedule> {
  const { call, terms } = schedule;
  const { arguments: args, context } = keptOf(call.request);
  return {
    id: schedule.id,
    task_type: schedule.taskType,
    description: schedule.description,
    tool: call.tool,
    arguments: own ? args : null,
    context,
    callback_url: own ? (call.callbackUrl ?? null) : null,
    ...wireTerms(terms),
    enabled: schedule.enabled,
    next_run: isoOrNull(schedule.nextRun),
    last_run: isoOrNull(schedule.lastRun),
    last_status: lastStatusOf(schedule, runs[0]),
    runs: schedule.runs,
    principal_id: call.principalId,
    agent_id: call.agentId,
    user_id: call.userId,
    version: schedule.version,
    created_at: iso(schedule.createdAt),
    updated_at: iso(schedule.updatedAt),
    finished_at: isoOrNull(schedule.finishedAt),
  };
}

export function wirePreview({ terms, now }: Preview): WireOf<typeof SchedulePreview> {
  const nextRun = firstAfter(terms, now);
  return { ...wireTerms(terms), next_runs: upcoming({ nextRun, runs: 0, terms }, SHOWN).map(iso) };
}

function wireTerms(terms: ScheduleTerms) {
  const { when, timeZone, misfire, overlap } = terms;
  const data = when.kind === 'once' ? { at: iso(when.at) } : { cron: when.cron };
  return {
    schedule: terms.phrase,
    understood: { schedule_type: when.kind, ...data, time_zone: timeZone },
    time_zone: timeZone,
    misfire,
    max_catch_up: terms.maxCatchUp,
    overlap,
    end_at: isoOrNull(terms.endAt),
    max_runs: terms.maxRuns,
  };
}

function wireRun(run: Run) {
  return wire(ScheduledRun, {
    ...run,
    fireTime: new Date(run.fireTime),
    finishedAt: run.finishedAt === null ? null : new Date(run.finishedAt),
  });
}

/** How its last run ended or stands, where a run came of the last moment it was due. */
function lastStatusOf({ lastStatus }: Kept, lastRun: Run | undefined): string | null {
  return lastStatus === 'fired' && lastRun !== undefined ? lastRun.status : lastStatus;
}

/** Who it runs for is said beside it; what it was granted is nobody's to read. */
function keptOf(request: string) {
  const kept: unknown = JSON.parse(request);
  const { arguments: args, shown = args, context } = isJsonObject(kept) ? kept : {};
  const { sessionId = null, mode = null } = isJsonObject(context) ? context : {};
  const spoken = { session_id: textOrNull(sessionId), mode: textOrNull(mode) };
  return { arguments: isJsonObject(shown) ? shown : {}, context: spoken };
}

function textOrNull(value: JsonValue): string | null {
  return typeof value === 'string' ? value : null;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : iso(time);
}
