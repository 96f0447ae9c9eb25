// Schedules: what doors do with them: make, preview, look, change, delete. Each runs as the credential that made it.
import { holds, type Principal } from '../contract/call/principal.ts';
import type { Admitted } from '../contract/call/admission.ts';
import { uuidv7 } from '../lib/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { OwnBounds } from '../ports/calls/caller-schedules.ts';
import type {
  NewSchedule,
  Schedule,
  ScheduledRun,
  ScheduleStore,
  ScheduleTerms,
} from '../ports/calls/schedule-store.ts';
import type { ToolCaller } from '../ports/tool-caller.ts';
import { callbackNotAllowed } from '../calls/call-failures.ts';
import { keptAt } from '../calls/keep-admitted.ts';
import { adminNeeded, finished, notFound, notTheOwner, otherVersion, tooMany } from './schedule-failures.ts';
import { scheduledCallOf } from './scheduled-call.ts';
import { agreedAnew, type CallDraft, type ChangedBy } from './agreed-anew.ts';
import { checkBounds } from './own-bounds.ts';
import type { ChangeSeries } from './schedule-metrics.ts';
import { mergeTerms, termsOf, shownTerms, type TermsDraft } from './schedule-terms.ts';
import { firstAfter, wrong } from './when-due.ts';

export interface SchedulesDeps {
  readonly store: ScheduleStore;
  readonly caller: Pick<ToolCaller, 'admit'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxPerTenant: number;
  /** Where the end of a run may be told. */
  readonly rules: Pick<CallbackCheck, 'refusal'>;
  readonly series: ChangeSeries;
}

/** Why no message may go there, as a sentence's end; undefined: it may. */
export interface CallbackCheck {
  refusal(url: string): string | undefined;
}

export interface ScheduleDraft extends TermsDraft, Pick<NewSchedule, 'taskType' | 'description'> {
  readonly phrase: string;
  /** Who is told of the end of each run. */
  readonly callbackUrl?: string;
}

export interface ScheduleEdit extends Partial<TermsDraft> {
  readonly enabled?: boolean;
  readonly description?: string;
}

export interface ScheduleView {
  readonly schedule: Schedule;
  /** Newest first. */
  readonly runs: readonly ScheduledRun[];
  /** Whether it is the looker's: its arguments are for nobody else to read. */
  readonly own: boolean;
}

export interface SchedulePreview {
  readonly terms: ScheduleTerms;
  readonly now: number;
}

const RUNS_SHOWN = 5;

export class Schedules {
  readonly #deps: SchedulesDeps;

  constructor(deps: SchedulesDeps) {
    this.#deps = deps;
  }

  /** What the terms mean, from now on. Throws ToolFailure VALIDATION. */
  preview(draft: TermsDraft & { readonly phrase: string }): SchedulePreview {
    const now = this.#deps.clock.wall();
    return { terms: termsOf(draft, now), now };
  }

  /** Throws ToolFailure: whatever the call itself would be refused with now, and CONFIRMATION_REQUIRED. */
  async create(
    principal: Principal,
    call: CallDraft,
    draft: ScheduleDraft,
    bounds: Partial<OwnBounds> = {},
  ): Promise<ScheduleView> {
    const { store, log, series } = this.#deps;
    const terms = termsOf(draft, await store.now());
    checkBounds(terms, bounds);
    this.#checkCallback(draft.callbackUrl);
    // A dry run needs no approval, and nothing of it is worth keeping.
    if (call.context.dryRun === true)
      throw wrong('/context/dry_run', 'is for calls; POST /v1/schedules/preview shows what a schedule means');
    const shown = shownTerms(terms, draft.callbackUrl);
    const admission = await this.#deps.caller.admit({ ...call, terms: { schedule: shown } });
    const id = await keptAt(admission, async (admitted) => {
      const schedule = await this.#keep(admitted, draft, terms, bounds.maxPerOwner);
      series.with('made').add();
      const about = {
        scheduleId: schedule.id,
        by: principal.id,
        tool: schedule.call.tool,
        phrase: terms.phrase,
      };
      log.info(about, 'a schedule was made');
      return schedule.id;
    });
    return this.get(principal, id);
  }

  /** Own ones, and with calls:read or admin all of the tenant. */
  async list(
    principal: Principal,
    query: { limit: number; before?: string },
  ): Promise<readonly ScheduleView[]> {
    const { store } = this.#deps;
    const own = seesAll(principal) ? {} : { principalId: principal.id };
    const schedules = await store.list(principal.tenantId, { ...query, ...own });
    const runs = await store.runs(
      schedules.map(({ id }) => id),
      1,
    );
    const last = new Map(runs.map((run) => [run.scheduleId, run]));
    return schedules.map((schedule) => ({
      schedule,
      runs: [last.get(schedule.id)].filter((run) => run !== undefined),
      own: owns(principal, schedule),
    }));
  }

  /** Throws ToolFailure NOT_FOUND: existence is not told. */
  async get(principal: Principal, id: string): Promise<ScheduleView> {
    const schedule = await this.#visible(principal, id);
    return {
      schedule,
      runs: await this.#deps.store.runs([schedule.id], RUNS_SHOWN),
      own: owns(principal, schedule),
    };
  }

  /**
   * What changes when it runs is agreed to anew, by its owner alone: as if it were made now. `version`: the one that the
   * change is meant for. Throws ToolFailure CONFLICT (VERSION_MISMATCH, SCHEDULE_FINISHED).
   */
  async change(
    principal: Principal,
    id: string,
    edit: ScheduleEdit,
    { version, bounds = {}, ...by }: ChangedBy & { version?: number; bounds?: Partial<OwnBounds> },
  ): Promise<ScheduleView> {
    const { store, log, series } = this.#deps;
    const schedule = await this.#writable(principal, id);
    if (version !== undefined && version !== schedule.version) throw otherVersion();
    if (schedule.finishedAt !== null) throw finished();
    const now = await store.now();
    const terms = mergeTerms(schedule.terms, edit, now);
    if (terms !== undefined) checkBounds(terms, bounds);
    const call =
      terms === undefined
        ? schedule.call
        : await agreedAnew(this.#deps.caller, owned(principal, schedule), terms, by);
    const enabled = edit.enabled ?? schedule.enabled;
    const begins = enabled && (terms !== undefined || !schedule.enabled);
    const inForce = terms ?? schedule.terms;
    const changed = await store.change(principal.tenantId, id, schedule.version, {
      description: edit.description ?? schedule.description,
      terms: inForce,
      call,
      ...(begins && { waits: { enabled, nextRun: firstRun(inForce, now) } }),
      ...(!enabled && { waits: { enabled, nextRun: null } }),
    });
    if (changed === undefined) throw otherVersion();
    series.with('changed').add();
    log.info({ scheduleId: id, by: principal.id, enabled, phrase: inForce.phrase }, 'a schedule was changed');
    return this.get(principal, id);
  }

  async delete(principal: Principal, id: string, version?: number): Promise<void> {
    const { store, log, series } = this.#deps;
    const schedule = await this.#writable(principal, id);
    if (version !== undefined && version !== schedule.version) throw otherVersion();
    if (!(await store.delete(principal.tenantId, id))) throw notFound();
    series.with('deleted').add();
    log.info({ scheduleId: id, by: principal.id, tool: schedule.call.tool }, 'a schedule was deleted');
  }

  async #keep(
    admitted: Admitted,
    { taskType, description, callbackUrl }: ScheduleDraft,
    terms: ScheduleTerms,
    maxPerOwner: number | undefined,
  ): Promise<Schedule> {
    const { store, clock, maxPerTenant: perTenant } = this.#deps;
    const schedule: NewSchedule = {
      id: uuidv7(clock.wall()),
      tenantId: admitted.call.grant.tenantId,
      taskType,
      description,
      call: scheduledCallOf(admitted, callbackUrl),
      terms,
      nextRun: firstRun(terms, await store.now()),
    };
    const perOwner = maxPerOwner === undefined ? {} : { perOwner: maxPerOwner };
    const made = await store.create(schedule, { perTenant, ...perOwner });
    if (made === 'tenant_full') throw tooMany(perTenant, 'Your tenant has');
    if (made === 'owner_full') throw tooMany(maxPerOwner ?? 0, 'This agent and user have');
    return made;
  }

  /** Throws ToolFailure VALIDATION. */
  #checkCallback(url: string | undefined): void {
    const refusal = url === undefined ? undefined : this.#deps.rules.refusal(url);
    if (refusal !== undefined) throw callbackNotAllowed(refusal);
  }

  async #visible(principal: Principal, id: string): Promise<Schedule> {
    const schedule = await this.#deps.store.get(principal.tenantId, id);
    if (schedule === undefined || !(owns(principal, schedule) || seesAll(principal))) throw notFound();
    return schedule;
  }

  async #writable(principal: Principal, id: string): Promise<Schedule> {
    const schedule = await this.#visible(principal, id);
    if (owns(principal, schedule) || holds(principal, 'admin')) return schedule;
    throw adminNeeded();
  }
}

function owns(principal: Principal, { call }: Schedule): boolean {
  return call.principalId === principal.id;
}

function owned(principal: Principal, schedule: Schedule): Schedule {
  if (owns(principal, schedule)) return schedule;
  throw notTheOwner();
}

function seesAll(principal: Principal): boolean {
  return holds(principal, 'calls:read') || holds(principal, 'admin');
}

function firstRun(terms: ScheduleTerms, now: number): number {
  const first = firstAfter(terms, now);
  if (first !== null) return first;
  throw wrong(
    '/schedule',
    terms.endAt === null ? 'is a time that has passed already' : 'is not due before end_at',
  );
}
