// CallerSchedules: schedules as a tool has them: those of its own caller, made and changed with nothing but its caller's rights.
import type { JsonObject } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { NewSchedule, Schedule, ScheduledRun, ScheduleTerms } from './schedule-store.ts';

export interface OwnTerms extends Partial<Pick<ScheduleTerms, 'timeZone' | 'endAt' | 'maxRuns'>> {
  readonly phrase: string;
}

/** What the tool allows, besides what the gateway does. */
export interface OwnBounds {
  /** Left out: either will do. */
  readonly kind?: 'once' | 'recurring';
  /** Unfinished ones of the credential, agent and user of the call. */
  readonly maxPerOwner: number;
  /** Between two moments of a schedule. */
  readonly minIntervalMs: number;
}

export interface OwnDraft extends OwnTerms, Pick<NewSchedule, 'taskType' | 'description'> {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Of the operator's choice: who is told of the end of each run. */
  readonly callbackUrl?: string;
}

export interface OwnSchedule {
  readonly schedule: Schedule;
  /** The last one. */
  readonly run?: ScheduledRun;
}

export interface OwnRun extends ScheduledRun {
  /** The envelope that it ended in, as JSON text. */
  readonly envelope?: string;
}

/**
 * Own are those that were made by the same credential, for the same agent and user; there are no others. Everything may throw
 * ToolFailure: NOT_FOUND (SCHEDULE_NOT_FOUND), VALIDATION, UNAVAILABLE, and whatever the call to be made would be refused with now.
 */
export interface CallerSchedules {
  /** The call is admitted now, as a step of `parent`, and runs with what its caller is granted now and still holds then. */
  create(parent: ToolCall, draft: OwnDraft, bounds: OwnBounds): Promise<OwnSchedule>;
  /** Unfinished ones, newest first. */
  list(
    parent: ToolCall,
    page: { readonly limit: number; readonly before?: string },
  ): Promise<readonly OwnSchedule[]>;
  delete(parent: ToolCall, id: string): Promise<void>;
  /** Agreed to anew, where it changes when it runs. */
  change(
    parent: ToolCall,
    id: string,
    edit: Partial<OwnTerms> & { readonly enabled?: boolean },
    bounds: OwnBounds,
  ): Promise<OwnSchedule>;
  /** Its last runs, newest first, as they ended. */
  runs(parent: ToolCall, id: string, limit: number): Promise<readonly OwnRun[]>;
  /**
   * How a step of `parent` would be decided if it were made now: whether a human would be asked. Throws ToolFailure: what it would
   * be refused with.
   */
  check(parent: ToolCall, tool: string, args: JsonObject): Promise<{ readonly needsApproval: boolean }>;
}
