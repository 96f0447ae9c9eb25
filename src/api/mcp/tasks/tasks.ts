// Tasks: calls that were accepted to run later, as both revisions of the protocol know them: a task is such a call, and has its id.
// It is its caller's alone: another credential is told that there is none, whatever it may read of calls elsewhere.
import { ProtocolError } from '@modelcontextprotocol/server';
import type { AsyncCalls, CalledFor } from '../../../calls/async-calls.ts';
import { notFound } from '../../../calls/call-failures.ts';
import type { Principal } from '../../../contract/call/principal.ts';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import type { CallHistory } from '../../../ports/calls/call-history.ts';
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import { nextPage } from '../../rest/calls/history-query.ts';
import { admittedFor } from '../../rest/management/admitted.ts';
import type { ManagementActs } from '../../rest/management/acts.ts';
import { questionOf } from '../tools/client-questions.ts';
import type { Era, Exchange } from '../protocol/exchange.ts';
import { INVALID_PARAMS } from '../protocol/told-failure.ts';
import type { Result, WriteTerms } from '../tools/write-tool-result.ts';
import { cancelledAnswer, taskAnswer, type TaskAnswer } from './task-answer.ts';
import { approvalUrl, isCancelled, isOver, statusOf, taskFields, type TaskTerms } from './task-fields.ts';
import { afterOf, calledForOf, taskIdOf, type TaskParams } from './task-params.ts';

export interface TasksDeps {
  readonly calls: Pick<AsyncCalls, 'get' | 'cancel' | 'envelopeOf' | 'approvalShown'>;
  readonly history: Pick<CallHistory, 'tasks'>;
  readonly acts: ManagementActs;
  readonly keptMs: number;
  readonly write: WriteTerms;
}

/** Who asks, what of its tasks it means, and what its client can do. */
export interface TaskAsker {
  readonly exchange: Exchange;
  readonly opensUrls: boolean;
}

const PAGE_SIZE = 100;

export class Tasks {
  readonly #deps: TasksDeps;

  constructor(deps: TasksDeps) {
    this.#deps = deps;
  }

  /** Throws ToolFailure NOT_FOUND. */
  async own(principal: Principal, id: string, of: CalledFor): Promise<StoredCall> {
    const call = await this.#deps.calls.get(principal, id, of);
    if (call.principalId !== principal.id || call.kind !== 'async' || call.door !== 'mcp') throw notFound();
    return call;
  }

  async asked(params: TaskParams, { exchange }: TaskAsker): Promise<StoredCall> {
    return this.own(principalOf(exchange), taskIdOf(params), calledForOf(params, exchange));
  }

  fields(call: StoredCall, asker: TaskAsker, failsByProtocol = false): Result {
    return taskFields(call, this.terms(asker), failsByProtocol);
  }

  terms({ exchange: { asked }, opensUrls }: TaskAsker): TaskTerms {
    return { era: asked.era, opensUrls, approvalsUrl: asked.approvalsUrl(), keptMs: this.#deps.keptMs };
  }

  /** Of 2026-07-28: with what it waits for, or ended in. The result goes out as the tool's answer was encoded. */
  async get(params: TaskParams, asker: TaskAsker): Promise<Result> {
    const call = await this.asked(params, asker);
    if (asker.exchange.asked.era === 'legacy') return this.fields(call, asker);
    const { fields, pasted } = await this.detailed(call, asker);
    if (pasted !== undefined) asker.exchange.paste(pasted);
    return fields;
  }

  /** A task of 2026-07-28 as it is told: `pasted` is JSON text of what stands in it beside the fields. */
  async detailed(
    call: StoredCall,
    asker: TaskAsker,
  ): Promise<{ readonly fields: Result; readonly pasted?: string }> {
    if (statusOf(call, this.terms(asker), false) === 'input_required')
      return { fields: { ...this.fields(call, asker), inputRequests: this.#inputRequests(call, asker) } };
    if (call.finishedAt === null || isCancelled(call, 'modern')) return { fields: this.fields(call, asker) };
    const answer = await this.answerOf(call, 'modern');
    if (answer.kind === 'error') {
      const { code, message, data } = answer;
      return { fields: { ...this.fields(call, asker, true), error: { code, message, data } } };
    }
    const { fields, meta } = answer;
    const pasted = `"result":{${fields},"_meta":${JSON.stringify(meta)},"resultType":"complete"}`;
    return { fields: this.fields(call, asker), pasted };
  }

  async list(params: TaskParams, asker: TaskAsker): Promise<Result> {
    const principal = principalOf(asker.exchange);
    const filter = { principalId: principal.id, ...calledForOf(params, asker.exchange) };
    const after = afterOf(params);
    const query = { filter, limit: PAGE_SIZE, ...(after !== undefined && { after }) };
    const { rows, next } = await this.#deps.history.tasks(principal.tenantId, query);
    const nextCursor = nextPage(next);
    return {
      tasks: rows.map((call) => this.fields(call, asker)),
      ...(nextCursor !== '' && { nextCursor }),
    };
  }

  /** In 2026-07-28 whoever cancels what has ended is told no otherwise. */
  async cancel(params: TaskParams, asker: TaskAsker): Promise<Result> {
    const call = await this.asked(params, asker);
    const { era } = asker.exchange.asked;
    if (isOver(call, era)) {
      if (era === 'modern') return {};
      const status = statusOf(call, this.terms(asker), false);
      throw new ProtocolError(INVALID_PARAMS, `Cannot cancel task: already in terminal status '${status}'`);
    }
    try {
      const cancelled = await this.cancelCall(principalOf(asker.exchange), call);
      return era === 'modern' ? {} : this.fields(cancelled, asker);
    } catch (error) {
      // It has ended meanwhile.
      if (era === 'modern' && error instanceof ToolFailure && isReason(error, 'CALL_ENDED')) return {};
      throw error;
    }
  }

  /** It is on record, as everywhere else. Throws ToolFailure. */
  cancelCall(principal: Principal, { id }: StoredCall): Promise<StoredCall> {
    const { acts, calls } = this.#deps;
    const act = { action: 'calls.cancel', target: id, on: 'call', door: 'mcp' } as const;
    return acts.perform(admittedFor(principal), act, () => calls.cancel(principal, id));
  }

  /** Answers to what is not asked are left alone. */
  async update(params: TaskParams, responses: JsonObject, asker: TaskAsker): Promise<Result> {
    const call = await this.asked(params, asker);
    const isAsked = statusOf(call, { era: 'modern', opensUrls: true }, false) === 'input_required';
    const answer = isAsked ? responses[keyOf(call)] : undefined;
    const action = isJsonObject(answer) ? answer['action'] : undefined;
    if (typeof action === 'string') await this.shown(principalOf(asker.exchange), call, action);
    return {};
  }

  /** What a client says of the approval that it was to show: who declines does not want the call. */
  async shown(principal: Principal, call: StoredCall, action: string): Promise<void> {
    if (action === 'decline') await this.cancelCall(principal, call);
    else await this.#deps.calls.approvalShown(principal, call.id);
  }

  /** Of a call that has ended. */
  async answerOf(call: StoredCall, era: Era): Promise<TaskAnswer> {
    const envelope = isCancelled(call, era) ? undefined : this.#deps.calls.envelopeOf(call);
    return envelope === undefined ? cancelledAnswer() : taskAnswer(envelope, era, this.#deps.write);
  }

  #inputRequests(call: StoredCall, asker: TaskAsker): JsonObject {
    const url = approvalUrl(call.approval?.id ?? '', this.terms(asker));
    const params = { mode: 'url', message: questionOf(call.tool), url };
    return { [keyOf(call)]: { method: 'elicitation/create', params } };
  }
}

/** One for each approval, so that no two questions of a task have the same. */
function keyOf({ approval }: StoredCall): string {
  return `approval-${approval?.id ?? ''}`;
}

export function principalOf({ asked: { principal } }: Exchange): Principal {
  if (principal === undefined) throw new Error('a task is asked for by nobody');
  return principal;
}
