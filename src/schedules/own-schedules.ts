// OwnSchedules: CallerSchedules over the gateway's schedules: what a tool may see and change is what its caller made.
import type { JsonObject } from '../contract/json.ts';
import type { Principal } from '../contract/call/principal.ts';
import type { ParentCall, ToolCall, ToolRequest } from '../contract/call/tool-call.ts';
import type { ToolContext } from '../contract/call/tool-context.ts';
import { toolFailure } from '../contract/call/failure.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type {
  CallerSchedules,
  OwnBounds,
  OwnDraft,
  OwnRun,
  OwnSchedule,
  OwnTerms,
} from '../ports/calls/caller-schedules.ts';
import type { ScheduleOwner, ScheduleStore } from '../ports/calls/schedule-store.ts';
import type { ToolCaller } from '../ports/tool-caller.ts';
import { notFound } from './schedule-failures.ts';
import type { CallDraft } from './agreed-anew.ts';
import type { Schedules, ScheduleView } from './schedules.ts';

/** A call's step, as NestedCalls would make it. */
export type StepRequest = (
  parent: ToolCall,
  tool: string,
  args: JsonObject,
) => ToolRequest & { readonly parent: ParentCall };

export interface OwnSchedulesDeps {
  readonly schedules: Pick<Schedules, 'create' | 'change' | 'delete' | 'get'>;
  readonly store: Pick<ScheduleStore, 'get' | 'list' | 'runs'>;
  readonly caller: Pick<ToolCaller, 'explain'>;
  /** The envelope that a call of the tenant ended in, as JSON text. */
  readonly envelopeOf: (tenantId: string, callId: string) => Promise<string | undefined>;
}

export class OwnSchedules implements CallerSchedules {
  readonly #stepOf: StepRequest;
  #deps: OwnSchedulesDeps | undefined;

  constructor(stepOf: StepRequest) {
    this.#stepOf = stepOf;
  }

  /** Executors are made before what runs later: it comes later. */
  bind(deps: OwnSchedulesDeps): void {
    this.#deps = deps;
  }

  async create(
    parent: ToolCall,
    { tool, arguments: args, ...draft }: OwnDraft,
    bounds: OwnBounds,
  ): Promise<OwnSchedule> {
    const { schedules } = this.#known();
    const { emit: _emit, ...step } = this.#stepOf(parent, tool, args);
    const context = { ...afterwards(step.context), ...tokenFor(parent) };
    const call: CallDraft = { ...step, context };
    return ownOf(await schedules.create(callerOf(parent), call, draft, bounds));
  }

  async list(
    parent: ToolCall,
    page: { readonly limit: number; readonly before?: string },
  ): Promise<readonly OwnSchedule[]> {
    const { store } = this.#known();
    const owner = ownerOf(parent);
    const schedules = await store.list(callerOf(parent).tenantId, { ...page, owner, unfinished: true });
    const runs = await store.runs(
      schedules.map(({ id }) => id),
      1,
    );
    const last = new Map(runs.map((run) => [run.scheduleId, run]));
    return schedules.map((schedule) => {
      const run = last.get(schedule.id);
      return { schedule, ...(run !== undefined && { run }) };
    });
  }

  async delete(parent: ToolCall, id: string): Promise<void> {
    await this.#checkOwn(parent, id);
    await this.#known().schedules.delete(callerOf(parent), id);
  }

  async change(
    parent: ToolCall,
    id: string,
    edit: Partial<OwnTerms> & { readonly enabled?: boolean },
    bounds: OwnBounds,
  ): Promise<OwnSchedule> {
    const { schedules } = this.#known();
    const tool = await this.#checkOwn(parent, id);
    const { credential, door, parent: step, signal, refusal } = this.#stepOf(parent, tool, {});
    if (refusal !== undefined) throw refusal;
    const by = {
      credential,
      door,
      parent: step,
      ...(signal !== undefined && { signal }),
      ...tokenFor(parent),
    };
    return ownOf(await schedules.change(callerOf(parent), id, edit, { ...by, bounds }));
  }

  async runs(parent: ToolCall, id: string, limit: number): Promise<readonly OwnRun[]> {
    const { store, envelopeOf } = this.#known();
    await this.#checkOwn(parent, id);
    const { tenantId } = callerOf(parent);
    const found: OwnRun[] = [];
    // One after the other: each may be large.
    for (const run of await store.runs([id], limit)) {
      const envelope = run.finishedAt === null ? undefined : await envelopeOf(tenantId, run.callId);
      found.push({ ...run, ...(envelope !== undefined && { envelope }) });
    }
    return found;
  }

  async check(
    parent: ToolCall,
    tool: string,
    args: JsonObject,
  ): Promise<{ readonly needsApproval: boolean }> {
    const { refusal: refused, context, credential, door, parent: step } = this.#stepOf(parent, tool, args);
    if (refused !== undefined) throw refused;
    const as = step.grant === undefined ? {} : { as: step.grant };
    const asked = { tool, arguments: args, context: afterwards(context), credential, door, ...as };
    const { refusal, told } = await this.#known().caller.explain(asked);
    if (refusal !== undefined) {
      const { type, message, reason, details } = refusal.error;
      throw new ToolFailure(type, message, { reason, details });
    }
    const { decision, message, rule } = told['policy'] ?? {};
    if (decision === 'deny' || decision === 'error')
      throw toolFailure('POLICY_DENIED', typeof message === 'string' ? message : DENIED, {
        ...(typeof rule === 'string' && { details: { rule } }),
      });
    return { needsApproval: told['approval'] !== undefined || decision === 'require_approval' };
  }

  #known(): OwnSchedulesDeps {
    if (this.#deps === undefined) throw new Error('no call runs before the schedules are there');
    return this.#deps;
  }

  /** Gives the tool that it calls. Existence of others is not told. */
  async #checkOwn(parent: ToolCall, id: string): Promise<string> {
    const found = await this.#known().store.get(callerOf(parent).tenantId, id);
    const { principalId, agentId, userId } = ownerOf(parent);
    const call = found?.call;
    if (call?.principalId !== principalId || call.agentId !== agentId || call.userId !== userId)
      throw notFound();
    return call.tool;
  }
}

const DENIED = 'A policy rule does not allow this call.';

/** It runs when the conversation is over: outside of its session and its mode. */
function afterwards(context: ToolContext): ToolContext {
  const { sessionId: _session, mode: _mode, turnId: _turn, dryRun: _dryRun, ...lasting } = context;
  return lasting;
}

/** The token of an approval is for one of the two: the tool that makes the schedule, or the call that is scheduled. */
function tokenFor({ context, progress }: ToolCall): Pick<ToolContext, 'confirmationToken'> {
  const { confirmationToken } = context;
  return confirmationToken === undefined || progress.approvedFor !== undefined ? {} : { confirmationToken };
}

function callerOf({ principal }: ToolCall): Principal {
  if (principal === undefined) throw new Error('a tool runs only behind auth');
  return principal;
}

function ownerOf(call: ToolCall): ScheduleOwner {
  const { agentId = '', userId = '' } = call.context;
  return { principalId: callerOf(call).id, agentId, userId };
}

function ownOf({ schedule, runs: [run] }: ScheduleView): OwnSchedule {
  return { schedule, ...(run !== undefined && { run }) };
}
