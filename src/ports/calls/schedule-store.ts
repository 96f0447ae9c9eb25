// ScheduleStore: what is to be called when, as rows. Each moment that a schedule is due makes one call, by whichever replica.
import type { CallStatus, NewCall } from './call-store.ts';

/** When it is due: once, at an instant (epoch milliseconds), or by a cron expression in the schedule's time zone. */
export type When =
  | { readonly kind: 'once'; readonly at: number }
  | { readonly kind: 'recurring'; readonly cron: string };

/** What becomes of moments that passed while no gateway ran. */
export const MISFIRES = ['skip', 'once', 'catch_up'] as const;
/** What happens when it is due and its last run has not ended. */
export const OVERLAPS = ['allow', 'skip', 'queue'] as const;
export const TASK_TYPES = ['tool_call', 'reminder', 'agent_task', 'api_call', 'web_search'] as const;

/** Times are epoch milliseconds, by the database's clock where it says when something happened. */
export interface ScheduleTerms {
  /** As its owner wrote it. */
  readonly phrase: string;
  readonly timeZone: string;
  readonly when: When;
  readonly misfire: (typeof MISFIRES)[number];
  /** With catch_up: how many of the missed moments are made up for. */
  readonly maxCatchUp: number;
  readonly overlap: (typeof OVERLAPS)[number];
  readonly endAt: number | null;
  readonly maxRuns: number | null;
}

/** What it calls, for whom, and what that one was allowed when the schedule was made. No secret is in it. */
export interface ScheduledCall {
  readonly tool: string;
  readonly principalId: string;
  readonly agentId: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly argumentsHash: string;
  /** JSON text of what the worker needs to run the call. */
  readonly request: string;
  /** Who is told of the end of each run. */
  readonly callbackUrl?: string;
}

export interface NewSchedule {
  readonly id: string;
  readonly tenantId: string;
  readonly taskType: (typeof TASK_TYPES)[number];
  readonly description: string;
  readonly call: ScheduledCall;
  readonly terms: ScheduleTerms;
  readonly nextRun: number;
}

/**
 * What became of the moment it was last due: a call was made of it, or it passed while no gateway ran, the last run had not
 * ended, too many calls of the tenant waited; `broken`: what it says cannot be read any more.
 */
export type LastStatus = 'fired' | 'missed' | 'skipped_overlap' | 'dropped' | 'broken';

export interface Schedule extends Omit<NewSchedule, 'nextRun'> {
  readonly enabled: boolean;
  /** Null: it is not going to run. */
  readonly nextRun: number | null;
  /** The moment of its last run; null: there was none. */
  readonly lastRun: number | null;
  readonly lastStatus: LastStatus | null;
  readonly runs: number;
  /** Counts its changes by people, not its runs. */
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When it had no further moment to wait for. */
  readonly finishedAt: number | null;
}

export interface ScheduledRun {
  readonly scheduleId: string;
  readonly callId: string;
  readonly status: CallStatus;
  readonly errorType: string | null;
  readonly reason: string | null;
  readonly fireTime: number;
  readonly finishedAt: number | null;
}

export interface ScheduleChange {
  readonly description: string;
  readonly terms: ScheduleTerms;
  readonly call: ScheduledCall;
  /** Left out: as it stands, whatever happens to it meanwhile. */
  readonly waits?: { readonly enabled: boolean; readonly nextRun: number | null };
}

export interface DueSchedule {
  readonly schedule: Schedule;
  readonly now: number;
  /** Its last run waits or runs still. */
  readonly busy: boolean;
  /** How many calls of its tenant the queue would take now. */
  readonly capacity: number;
}

/** What is to be done about a schedule that is due. */
export interface FiringPlan {
  readonly calls: readonly NewCall[];
  readonly nextRun: number | null;
  /** False: it has no further moment to wait for. */
  readonly goesOn: boolean;
  readonly status: LastStatus;
  /** Whether moments passed that no call is made of. */
  readonly missed: boolean;
}

export interface Fired extends DueSchedule {
  /** Its calls are there now and wait to be run. */
  readonly firing: FiringPlan;
}

export interface ScheduleCounts {
  readonly enabled: number;
  /** Enabled, and the last run that ended did not succeed. */
  readonly failing: number;
  /** Due for more than a minute. */
  readonly overdue: number;
}

/** Whose schedules they are, as calls see it: of one credential, agent and user. */
export type ScheduleOwner = Pick<ScheduledCall, 'principalId' | 'agentId' | 'userId'>;

export interface ScheduleQuery {
  /** Only those of this credential. */
  readonly principalId?: string;
  /** Only those of this credential, agent and user. */
  readonly owner?: ScheduleOwner;
  /** Only those that have not finished. */
  readonly unfinished?: true;
  readonly limit: number;
  /** Only those with a smaller id: made before it. */
  readonly before?: string;
}

/** How many may be unfinished: of the tenant, and where it is said, of the schedule's own credential, agent and user. */
export interface ScheduleLimits {
  readonly perTenant: number;
  readonly perOwner?: number;
}

/** Every method may throw ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE). */
export interface ScheduleStore {
  /** The database's clock. */
  now(): Promise<number>;
  /** Or which of the limits is reached. */
  create(schedule: NewSchedule, limits: ScheduleLimits): Promise<Schedule | 'tenant_full' | 'owner_full'>;
  get(tenantId: string, id: string): Promise<Schedule | undefined>;
  /** Newest first. */
  list(tenantId: string, query: ScheduleQuery): Promise<readonly Schedule[]>;
  /** The last `perSchedule` runs of each, newest first. */
  runs(scheduleIds: readonly string[], perSchedule: number): Promise<readonly ScheduledRun[]>;
  /** Undefined: it has another version by now, has finished, or is gone. */
  change(
    tenantId: string,
    id: string,
    version: number,
    change: ScheduleChange,
  ): Promise<Schedule | undefined>;
  delete(tenantId: string, id: string): Promise<boolean>;
  /**
   * Those that are due and that no other replica has at hand, `limit` at most: what `plan` says of each is written, calls
   * and schedules together, before it resolves. `plan` is pure, and is asked within the transaction.
   */
  fireDue(terms: FireTerms, plan: (due: DueSchedule) => FiringPlan): Promise<readonly Fired[]>;
  counts(): Promise<ScheduleCounts>;
}

export interface FireTerms {
  readonly limit: number;
  /** Calls of one tenant that may wait. */
  readonly maxQueued: number;
}
