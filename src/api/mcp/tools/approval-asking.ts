// ApprovalAsking: calls that a human has to approve. A client that can send its user somewhere is asked to, and the call goes on by itself
// once it is decided; any other is told where the approval is.
import { setTimeout as pause } from 'node:timers/promises';
import { ProtocolError } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import type { ToolRequest } from '../../../contract/call/tool-call.ts';
import type { ToolRefusal, ToolResponse } from '../../../contract/call/tool-response.ts';
import { SharedSlots } from '../../../lib/concurrency/shared-slots.ts';
import type { ApprovalStore } from '../../../ports/approvals/approval-store.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import { questionOf, type ClientQuestions } from './client-questions.ts';
import type { Exchange } from '../protocol/exchange.ts';
import { opensUrls } from '../protocol/legacy-session.ts';
import { opensUrlsNow } from '../protocol/client-capabilities.ts';
import { ERROR_KEY, type Result } from './write-tool-result.ts';
import { wireError } from '../../rest/execute/write-envelope.ts';
import { withoutAddress } from '../../shown-credential.ts';

export interface AskingDeps {
  readonly caller: Pick<ToolCaller, 'execute'>;
  readonly approvals: Pick<ApprovalStore, 'get'>;
  readonly authenticator: Authenticator;
}

/** What the client sent back with a call that it was asked about, in 2026-07-28. */
export interface Retried {
  readonly state: unknown;
  readonly responses: unknown;
  /** What the client declares with this request. */
  readonly capabilities: unknown;
}

/** The name of the only thing that is ever asked. */
const APPROVAL = 'approval';
const LOOK_EVERY_MS = 500;
/** Before a client of 2026-07-28 is asked again: its request is held no longer. */
const HELD_MS = 25_000;
const LONGEST_MS = 600_000;
const MOST_WAITING = 1_000;
const INVALID_PARAMS = -32_602;
const NEVER = () => undefined;
/** The approval's id and its token: random, kept as its hash, and good for exactly one principal, tool and arguments. */
const STATE = /^([0-9a-f-]{36})\.([\x21-\x7e]{1,512})$/;

interface Awaited {
  readonly id: string;
  readonly token: string;
}

export class ApprovalAsking {
  readonly #deps: AskingDeps;
  readonly #slots = new SharedSlots(MOST_WAITING);
  readonly #questions: ClientQuestions;

  constructor(deps: AskingDeps, questions: ClientQuestions) {
    this.#deps = deps;
    this.#questions = questions;
  }

  /** The envelope, or the result of a call that is asked about. Throws ProtocolError for a state that is none. */
  async execute(request: ToolRequest, exchange: Exchange, retried: Retried): Promise<ToolResponse | Result> {
    const said = awaitedIn(retried.state);
    if (said !== undefined) {
      const action = actionIn(retried.responses);
      if (action !== 'accept') return declined(action);
      await this.#decided(request, said.id, waitOf(exchange), HELD_MS);
    }
    const response = await this.#deps.caller.execute(said === undefined ? request : redeeming(request, said));
    if (response.ok) return response;
    const awaited = awaitedBy(response, said);
    if (awaited === undefined) return response;
    if (exchange.asked.era === 'modern')
      return opensUrlsNow(retried.capabilities) ? inputRequired(response, awaited, exchange) : response;
    const { session, takesEvents } = exchange.asked;
    return opensUrls(session) && takesEvents ? this.#elicit(request, response, awaited, exchange) : response;
  }

  /** Asks beside the call, waits for the decision, and makes the call again. */
  async #elicit(
    request: ToolRequest,
    refusal: ToolRefusal,
    awaited: Awaited,
    exchange: Exchange,
  ): Promise<ToolResponse | Result> {
    const question = {
      id: awaited.id,
      message: questionOf(refusal.meta.tool),
      url: urlOf(awaited, exchange),
    };
    const asked = this.#questions.ask(exchange, question);
    // Who accepts has sent its user there: the decision is what is waited for.
    const refused = asked.action.then((action) => (action === 'accept' ? new Promise<never>(NEVER) : action));
    const wait = waitOf(exchange);
    try {
      const decided = this.#decided(request, awaited.id, wait, LONGEST_MS);
      const action = await Promise.race([refused, decided]);
      if (typeof action === 'string') return declined(action);
    } finally {
      // Of a client that declines, too: nobody looks for a decision any more.
      wait.abort();
      asked.withdraw();
    }
    asked.complete();
    return this.#deps.caller.execute(redeeming(request, awaited));
  }

  /** Resolves when it is decided, nobody waits any more, or the time is over; at once where too many wait. */
  async #decided(
    { credential, context }: ToolRequest,
    id: string,
    { signal }: AbortController,
    withinMs: number,
  ): Promise<void> {
    let tenantId: string;
    try {
      ({ tenantId } = await this.#deps.authenticator.authenticate(
        withoutAddress(credential),
        context.tenantId,
      ));
    } catch {
      // The call itself tells what is wrong.
      return;
    }
    const leave = this.#slots.take(tenantId);
    if (leave === undefined) return;
    const until = performance.now() + withinMs;
    try {
      while (!signal.aborted && performance.now() < until) {
        const approval = await this.#deps.approvals.get(tenantId, id);
        if (approval?.status !== 'pending') return;
        await pause(LOOK_EVERY_MS, undefined, { ref: false, signal });
      }
    } catch {
      // Gone, or the store is away: the call itself tells.
    } finally {
      leave();
    }
  }
}

/** Over when its client has gone. */
function waitOf(exchange: Exchange): AbortController {
  const wait = new AbortController();
  exchange.whenGone(() => wait.abort());
  return wait;
}

function redeeming(request: ToolRequest, { token }: Awaited): ToolRequest {
  return { ...request, context: { ...request.context, confirmationToken: token } };
}

/** Undefined: there is none. */
function awaitedIn(state: unknown): Awaited | undefined {
  if (state === undefined) return undefined;
  const [, id, token] = (typeof state === 'string' ? STATE.exec(state) : null) ?? [];
  if (id !== undefined && token !== undefined) return { id, token };
  throw new ProtocolError(INVALID_PARAMS, 'This requestState is none that was given here.', {
    reason: 'invalid_request_state',
  });
}

/** Undefined: it is refused for something else. */
function awaitedBy({ error }: ToolRefusal, said: Awaited | undefined): Awaited | undefined {
  if (error.type !== 'CONFIRMATION_REQUIRED') return undefined;
  const { approval_id: id, confirmation_token: token = said?.token } = error.details;
  return typeof id === 'string' && typeof token === 'string' ? { id, token } : undefined;
}

function actionIn(responses: unknown): string {
  const answer = isJsonObject(responses) ? responses[APPROVAL] : undefined;
  const action = isJsonObject(answer) ? answer['action'] : undefined;
  return typeof action === 'string' ? action : 'accept';
}

function inputRequired(refusal: ToolRefusal, awaited: Awaited, exchange: Exchange): Result {
  const params = { mode: 'url', message: questionOf(refusal.meta.tool), url: urlOf(awaited, exchange) };
  return {
    resultType: 'input_required',
    inputRequests: { [APPROVAL]: { method: 'elicitation/create', params } },
    requestState: `${awaited.id}.${awaited.token}`,
    _meta: { [ERROR_KEY]: wireError(refusal) },
  };
}

function urlOf({ id }: Awaited, { asked }: Exchange): string {
  return `${asked.approvalsUrl()}/v1/approvals/${id}`;
}

/** The approval stays: somebody may still decide about it. */
function declined(action: JsonValue): Result {
  const done = action === 'decline' ? 'declined' : 'cancelled';
  const text = `The call was not made: the client has ${done} the request for approval.`;
  return { content: [{ type: 'text', text }], isError: true };
}
