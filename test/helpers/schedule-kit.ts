// What tests of schedules share: a schedule to store, and calls as a plan would make them.
import { sql, type RawBuilder } from 'kysely';
import { planFiring } from '../../src/schedules/plan-firing.ts';
import { TERMS_DEFAULTS } from '../../src/schedules/schedule-terms.ts';
import type { Database } from '../../src/infra/postgres/database.ts';
import { uuidv7 } from '../../src/lib/ids.ts';
import type {
  DueSchedule,
  FiringPlan,
  NewSchedule,
  Schedule,
  ScheduleTerms,
} from '../../src/ports/calls/schedule-store.ts';
import { ACME, newCall } from './async-kit.ts';

export const FIRE_TERMS = { limit: 25, maxQueued: 10_000 };

export function termsOf(over: Partial<ScheduleTerms> = {}): ScheduleTerms {
  return {
    ...TERMS_DEFAULTS,
    phrase: 'every minute',
    when: { kind: 'recurring', cron: '* * * * *' },
    ...over,
  };
}

export function newSchedule(over: Partial<NewSchedule> = {}): NewSchedule {
  return {
    id: uuidv7(Date.now()),
    tenantId: ACME,
    taskType: 'tool_call',
    description: '',
    call: {
      tool: 'echo',
      principalId: 'key00001',
      agentId: '',
      userId: '',
      sessionId: '',
      argumentsHash: '',
      request: '{"tool":"echo","arguments":{},"context":{}}',
    },
    terms: termsOf(),
    nextRun: 0,
    ...over,
  };
}

export function scheduleAt(over: Partial<Schedule> = {}): Schedule {
  return {
    ...newSchedule(),
    enabled: true,
    nextRun: 0,
    lastRun: null,
    lastStatus: null,
    runs: 0,
    version: 1,
    createdAt: 0,
    updatedAt: 0,
    finishedAt: null,
    ...over,
  };
}

export function plan(due: DueSchedule): FiringPlan {
  const { id, tenantId } = due.schedule;
  return planFiring(due, (fireTime) => newCall({ kind: 'scheduled', tenantId, schedule: { id, fireTime } }));
}

/** The database's time as a test sets it. */
export function timeAt(read: () => string): () => RawBuilder<Date> {
  return () => sql<Date>`${read()}::timestamptz`;
}

export async function forgetSchedules({ db }: Database): Promise<void> {
  await sql`DELETE FROM calls`.execute(db);
  await sql`DELETE FROM scheduled_tasks`.execute(db);
}
