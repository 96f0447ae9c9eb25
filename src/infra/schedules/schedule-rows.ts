// The rows of schedules: how one is written, and how it is read again.
import { sql, type InsertObject, type RawBuilder, type Selectable } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import {
  MISFIRES,
  OVERLAPS,
  TASK_TYPES,
  type LastStatus,
  type NewSchedule,
  type Schedule,
  type ScheduledCall,
  type ScheduleTerms,
  type When,
} from '../../ports/calls/schedule-store.ts';
import { storable } from '../postgres/storable.ts';
import type { ScheduledTasksTable, Tables } from '../postgres/tables.ts';

/** The database's time, or a test's. */
export type Now = () => RawBuilder<Date>;

export function newRow(schedule: NewSchedule, now: Now): InsertObject<Tables, 'scheduled_tasks'> {
  return {
    id: schedule.id,
    tenant_id: storable(schedule.tenantId),
    task_type: schedule.taskType,
    description: storable(schedule.description),
    enabled: true,
    ...termColumns(schedule.terms),
    ...callColumns(schedule.call),
    next_run: new Date(schedule.nextRun),
    created_at: now(),
    updated_at: now(),
  };
}

export function termColumns(terms: ScheduleTerms) {
  const { when } = terms;
  const data = when.kind === 'once' ? { at: new Date(when.at).toISOString() } : { cron: when.cron };
  return {
    schedule_type: when.kind,
    schedule_data: JSON.stringify(data),
    phrase: storable(terms.phrase),
    time_zone: terms.timeZone,
    misfire: terms.misfire,
    max_catch_up: terms.maxCatchUp,
    overlap: terms.overlap,
    end_at: dateOf(terms.endAt),
    max_runs: terms.maxRuns,
  };
}

export function callColumns(call: ScheduledCall) {
  return {
    execution_data: call.request,
    arguments_hash: call.argumentsHash,
    tool: storable(call.tool),
    principal_id: storable(call.principalId),
    agent_id: storable(call.agentId),
    user_id: storable(call.userId),
    session_id: storable(call.sessionId),
    callback_url: call.callbackUrl ?? null,
  };
}

export function scheduleOf(row: Selectable<ScheduledTasksTable>): Schedule {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    taskType: TASK_TYPES.find((type) => type === row.task_type) ?? 'tool_call',
    description: row.description,
    call: {
      tool: row.tool,
      principalId: row.principal_id,
      agentId: row.agent_id,
      userId: row.user_id,
      sessionId: row.session_id,
      argumentsHash: row.arguments_hash,
      request: JSON.stringify(row.execution_data),
      ...(row.callback_url !== null && { callbackUrl: row.callback_url }),
    },
    terms: {
      phrase: row.phrase,
      timeZone: row.time_zone,
      when: whenOf(row.schedule_data),
      misfire: MISFIRES.find((word) => word === row.misfire) ?? 'once',
      maxCatchUp: row.max_catch_up,
      overlap: OVERLAPS.find((word) => word === row.overlap) ?? 'skip',
      endAt: row.end_at?.getTime() ?? null,
      maxRuns: row.max_runs,
    },
    enabled: row.enabled,
    nextRun: row.next_run?.getTime() ?? null,
    lastRun: row.last_run?.getTime() ?? null,
    lastStatus: row.last_status as LastStatus | null,
    runs: row.runs,
    version: row.version,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
    finishedAt: row.finished_at?.getTime() ?? null,
  };
}

function whenOf({ at, cron }: JsonObject): When {
  if (typeof at === 'string') return { kind: 'once', at: Date.parse(at) };
  return { kind: 'recurring', cron: typeof cron === 'string' ? cron : '' };
}

export function dateOf(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}

export function literal(time: number): RawBuilder<Date> {
  return sql<Date>`${new Date(time).toISOString()}::timestamptz`;
}
