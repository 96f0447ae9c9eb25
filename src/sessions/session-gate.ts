// DeclaredSessions: SessionGate over the sessions that this replica knows. Who is known already costs a look into memory.
import type { ToolCall } from '../contract/call/tool-call.ts';
import type { ToolContext } from '../contract/call/tool-context.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import type { Clock } from '../ports/clock.ts';
import type { SessionGate } from '../ports/sessions/session-gate.ts';
import type { SessionRecord } from '../ports/sessions/session-store.ts';
import { isDeclared } from './declared-session.ts';
import type { KnownSession, KnownSessions } from './known-sessions.ts';
import { ended, expired, notFound, otherMode, required, unknownTurn } from './session-failures.ts';
import type { SessionTools } from './session-tools.ts';

export interface SessionGateNeeds {
  readonly known: KnownSessions;
  readonly tools: SessionTools;
  readonly clock: Clock;
  /** No call runs outside of a session. */
  readonly required: boolean;
}

const TURN = /^[1-9]\d{0,8}$/;

export class DeclaredSessions implements SessionGate {
  readonly #needs: SessionGateNeeds;

  constructor(needs: SessionGateNeeds) {
    this.#needs = needs;
  }

  enter(call: ToolCall, fn: ToolFunction): ToolCall | Promise<ToolCall> {
    const { sessionId, tenantId = '' } = call.context;
    if (sessionId === undefined || !isDeclared(sessionId)) {
      if (this.#needs.required && isNew(call)) throw required();
      return call;
    }
    // It was made one of its session when it was accepted.
    if (call.phase.kind === 'resume' && call.request.parent === undefined) return call;
    const known = this.#needs.known.peek(sessionId);
    if (known !== undefined) return this.#within(call, fn, known);
    return this.#needs.known.find(sessionId, tenantId).then((found) => this.#within(call, fn, found));
  }

  #within(call: ToolCall, fn: ToolFunction, known: KnownSession | undefined): ToolCall | Promise<ToolCall> {
    if (known === undefined) throw notFound();
    // A step is of the session that its call was in: that may have ended meanwhile.
    if (!isNew(call)) return this.#withVersion(call, fn, known.record);
    const context = contextIn(known.record, call);
    if (known.record.endedAt !== null) throw ended();
    if (known.overAt <= this.#needs.clock.now()) throw expired();
    const turn = turnOf(call.context, known.record);
    if (turn === undefined) return this.#withNewTurn(call, fn, known.record);
    this.#needs.known.use(known);
    return this.#withVersion(entered(call, { ...context, turnId: turn }), fn, known.record);
  }

  /** It may have been begun at another replica a moment ago. */
  async #withNewTurn(call: ToolCall, fn: ToolFunction, before: SessionRecord): Promise<ToolCall> {
    const found = await this.#needs.known.refresh(before.id, before.tenantId);
    if (found !== undefined && turnOf(call.context, found.record) !== undefined)
      return this.#within(call, fn, found);
    throw unknownTurn(found?.record.turn ?? before.turn);
  }

  /** A caller that names a version itself gets that. */
  #withVersion(call: ToolCall, { spec }: ToolFunction, session: SessionRecord): ToolCall | Promise<ToolCall> {
    if (call.context.toolVersion !== undefined) return call;
    call.progress.versionSource = 'session';
    const pin = this.#needs.tools.pinOf(session, call.snapshot, spec);
    if (pin instanceof Promise) return pin.then((found) => pinned(call, found));
    // What is accepted now may run when another version is in force.
    return pinned(call, call.phase.kind === 'admit' ? (pin ?? spec.contentHash) : pin);
  }
}

function isNew({ phase, request }: ToolCall): boolean {
  return phase.kind !== 'resume' && request.parent === undefined;
}

function pinned(call: ToolCall, toolVersion: string | undefined): ToolCall {
  return toolVersion === undefined ? call : { ...call, context: { ...call.context, toolVersion } };
}

/** What the call leaves out, the session says. Throws ToolFailure where they contradict each other, or it is not the caller's. */
function contextIn(session: SessionRecord, { context, principal }: ToolCall): ToolContext {
  const { tenantId, agentId, userId, mode, principalId } = session;
  const isTheirs =
    tenantId === context.tenantId &&
    (context.agentId ?? agentId) === agentId &&
    (context.userId ?? userId) === userId &&
    // Of a session for nobody in particular, only the credential says whose it is.
    (principal?.id === principalId || (agentId !== '' && userId !== '')) &&
    (agentId === '' ||
      principal?.agents.includes('*') === true ||
      principal?.agents.includes(agentId) === true);
  if (!isTheirs) throw notFound();
  if (mode !== null && context.mode !== undefined && context.mode !== mode) throw otherMode(mode);
  return {
    ...context,
    ...(agentId !== '' && { agentId }),
    ...(userId !== '' && { userId }),
    ...(mode !== null && { mode }),
  };
}

/** The last turn, where none is named. Undefined: it has not begun, as far as is known. */
function turnOf({ turnId }: ToolContext, { turn }: SessionRecord): string | undefined {
  if (turnId === undefined) return String(turn);
  if (!TURN.test(turnId)) throw unknownTurn(turn);
  return Number(turnId) <= turn ? turnId : undefined;
}

/** Observers see for whom it was made, too. */
function entered(call: ToolCall, context: ToolContext): ToolCall {
  const { caller } = call.progress;
  if (caller !== undefined) call.progress.caller = { ...caller, context };
  return { ...call, context };
}
