// TaskCreation: which calls become tasks: those that a client of 2025-11-25 wants to be, and of clients of 2026-07-28 that take tasks,
// those of tools that may run for long, and those that a human has to approve whom the client cannot send anybody to.
import { ProtocolError } from '@modelcontextprotocol/server';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import type { ToolRequest } from '../../../contract/call/tool-call.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { ToolRefusal, ToolResponse } from '../../../contract/call/tool-response.ts';
import { isUnsafe } from '../../../contract/tool/tool-spec.ts';
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import type { Toolsets } from '../../../ports/registry/toolsets.ts';
import type { Counter } from '../../../ports/telemetry/metrics.ts';
import { toolMeant } from '../../offered-toolset.ts';
import { wireError } from '../../rest/execute/write-envelope.ts';
import { INTERNAL_ERROR } from '../protocol/read-message.ts';
import { INVALID_PARAMS } from '../protocol/told-failure.ts';
import type { CallParams } from '../tools/read-tool-call.ts';
import { sentenceOf, type Result } from '../tools/write-tool-result.ts';
import { isOver } from './task-fields.ts';
import type { TaskAsker, Tasks } from './tasks.ts';

export interface TaskCreationDeps {
  readonly tasks: Tasks;
  readonly calls: Pick<AsyncCalls, 'accept'>;
  readonly catalog: Pick<ToolCatalog, 'snapshot'>;
  readonly toolsets: Pick<Toolsets, 'find'>;
  readonly authenticator: Authenticator;
  /** Tools that may run for so long are long ones. */
  readonly longFromMs: number;
  readonly made: Counter;
}

const IMMEDIATE_RESPONSE = 'io.modelcontextprotocol/model-immediate-response';

export class TaskCreation {
  readonly #deps: TaskCreationDeps;

  constructor(deps: TaskCreationDeps) {
    this.#deps = deps;
  }

  /** `takesTasks`: the client of 2026-07-28 declares it with this request. */
  wants(
    request: ToolRequest,
    { task }: CallParams,
    { exchange, opensUrls, takesTasks }: TaskAsker & { readonly takesTasks: boolean },
  ): boolean {
    const { refusal, context } = request;
    if (refusal !== undefined) return false;
    if (exchange.asked.era === 'legacy') return task !== undefined;
    if (!takesTasks || context.dryRun === true) return false;
    const spec = toolMeant(this.#deps, request)?.spec;
    if (spec === undefined) return false;
    if (spec.timeoutMs >= this.#deps.longFromMs) return true;
    const mayAsk = isUnsafe(spec.metadata) || spec.mayNeedApproval === true;
    return mayAsk && !opensUrls && context.confirmationToken === undefined;
  }

  /** The task; the envelope where the call was refused, or was answered before and is not to be made again. */
  async create(
    { emit: _emit, parent: _parent, ...request }: ToolRequest,
    asker: TaskAsker,
  ): Promise<ToolResponse | Result> {
    const response = await this.#deps.calls.accept(request);
    if (!response.ok || response.meta.acceptedAt === undefined) return response;
    const call = await this.#accepted(request, response.meta.acceptedAt);
    if (call === undefined) return response;
    this.#deps.made.add();
    const { era } = asker.exchange.asked;
    const fields = this.#deps.tasks.fields(call, asker);
    // A task begins as one that works, whatever it waits for.
    const task = { ...fields, status: isOver(call, era) ? fields['status'] : 'working' };
    if (era === 'modern') return { resultType: 'task', ...task };
    const text = `The call of ${call.tool} is under way as task ${call.id}. Its result comes later.`;
    return { task, _meta: { [IMMEDIATE_RESPONSE]: text } };
  }

  /** Undefined: an idempotency key led to a call of another door. */
  async #accepted(
    { credential, context }: Pick<ToolRequest, 'credential' | 'context'>,
    at: string,
  ): Promise<StoredCall | undefined> {
    const { authenticator, tasks } = this.#deps;
    const principal = await authenticator.authenticate(credential, context.tenantId);
    try {
      return await tasks.own(principal, at.slice(at.lastIndexOf('/') + 1), {});
    } catch (error) {
      if (error instanceof ToolFailure && error.type === 'NOT_FOUND') return undefined;
      throw error;
    }
  }
}

/** Of a call that was not accepted: no task was made. */
export function refusedTask(refusal: ToolRefusal): ProtocolError {
  const code = refusal.error.origin === 'caller' ? INVALID_PARAMS : INTERNAL_ERROR;
  return new ProtocolError(code, sentenceOf(refusal), wireError(refusal));
}
