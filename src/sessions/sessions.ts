// Sessions: what doors do with declared conversations: declare, look, begin a turn, end. A tenant's are that tenant's.
import { boundTo } from '../contract/call/bound-to.ts';
import { holds, type Principal } from '../contract/call/principal.ts';
import { budgetsOf, type Budget } from '../contract/rules/budgets.ts';
import type { CallRules } from '../contract/rules/call-rules.ts';
import type { InteractionMode } from '../contract/tool/tool-spec.ts';
import { LocalDay } from '../lib/schedule/local-day.ts';
import type { AdmissionControl } from '../ports/admission-control.ts';
import type { Clock } from '../ports/clock.ts';
import type { ToolCatalog } from '../ports/registry/tool-catalog.ts';
import type { SessionQuery, SessionRecord, SessionStore } from '../ports/sessions/session-store.ts';
import { isDeclared, newSessionId } from './declared-session.ts';
import type { KnownSessions } from './known-sessions.ts';
import { ended, expired, notFound, tooMany } from './session-failures.ts';
import { heldBy } from './session-tools.ts';

export interface SessionDraft {
  readonly tenantId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
  readonly mode?: InteractionMode | undefined;
}

export type SessionState = 'active' | 'ended' | 'expired';

export interface UsedBudget extends Budget {
  /** Undefined: nobody can tell now. */
  readonly used: number | undefined;
  /** Epoch milliseconds; undefined: with the next turn or session. */
  readonly freeAt?: number;
}

export interface SessionView {
  readonly session: SessionRecord;
  readonly state: SessionState;
  readonly budgets: readonly UsedBudget[];
}

/** For whom a session must be to be seen: said by a backend that serves many with one credential. */
export type SessionOf = Pick<SessionDraft, 'agentId' | 'userId'>;

export interface SessionsNeeds {
  readonly store: SessionStore;
  readonly known: KnownSessions;
  readonly catalog: Pick<ToolCatalog, 'snapshot'>;
  readonly admission: Pick<AdmissionControl, 'spent'>;
  /** Which versions of tools a session begins with, where that are not the ones in force. */
  readonly assigned: {
    ofSession(of: {
      readonly tenantId: string;
      readonly agentId?: string;
      readonly userId?: string;
    }): ReadonlyMap<string, string>;
  };
  readonly rules: CallRules;
  readonly clock: Clock;
  readonly idleMs: number;
  readonly maxAgeMs: number;
  readonly maxPerTenant: number;
}

const READ = 'sessions:read';
const WRITE = 'sessions:write';

/** Every method rejects with ToolFailure: NOT_FOUND for what is not the caller's, UNAVAILABLE, and what it says. */
export class Sessions {
  readonly #needs: SessionsNeeds;
  readonly #days: LocalDay;

  constructor(needs: SessionsNeeds) {
    this.#needs = needs;
    this.#days = new LocalDay(needs.rules.budgets?.timeZone ?? 'UTC');
  }

  /** PERMISSION_DENIED where the credential may not speak for them; CONCURRENCY_LIMIT where there are too many. */
  async create(by: Principal, draft: SessionDraft): Promise<SessionView> {
    const { store, known, catalog, clock, idleMs, maxAgeMs, maxPerTenant } = this.#needs;
    const { mode = null, ...said } = draft;
    const { tenantId = '', agentId = '', userId = '' } = boundTo(by, defined(said));
    const snapshot = catalog.snapshot();
    const assigned = this.#needs.assigned.ofSession({
      tenantId,
      ...(agentId !== '' && { agentId }),
      ...(userId !== '' && { userId }),
    });
    const { tools, registryHash } = heldBy(snapshot, assigned);
    const session = {
      id: newSessionId(clock.wall()),
      tenantId,
      principalId: by.id,
      agentId,
      userId,
      mode,
      registryVersion: snapshot.version,
      registryHash,
      idleMs,
      maxAgeMs,
    };
    const record = await store.create(session, tools, maxPerTenant);
    if (record === undefined) throw tooMany(maxPerTenant);
    known.put(record);
    return this.#viewOf(record);
  }

  async get(by: Principal, id: string, of: SessionOf = {}): Promise<SessionView> {
    return this.#viewOf(await this.#visible(by, id, READ, of));
  }

  /** Without what is used of their budgets. */
  async list(
    by: Principal,
    query: Omit<SessionQuery, 'principalId'>,
  ): Promise<readonly Omit<SessionView, 'budgets'>[]> {
    const principalId = holds(by, READ) ? undefined : by.id;
    const found = await this.#needs.store.list(by.tenantId, { ...query, principalId });
    return found.map((session) => ({ session, state: stateOf(session) }));
  }

  /** SESSION_INACTIVE where it is over. */
  async nextTurn(by: Principal, id: string, of: SessionOf = {}): Promise<SessionView> {
    const before = await this.#visible(by, id, WRITE, of);
    const record = await this.#needs.store.nextTurn(before.tenantId, id);
    if (record !== undefined) {
      this.#needs.known.put(record);
      return this.#viewOf(record);
    }
    throw stateOf(await this.#visible(by, id, WRITE, of)) === 'ended' ? ended() : expired();
  }

  /** One that is over stays as it is. */
  async end(by: Principal, id: string, of: SessionOf = {}): Promise<SessionView> {
    const { tenantId } = await this.#visible(by, id, WRITE, of);
    const record = await this.#needs.store.end(tenantId, id, by.id);
    if (record === undefined) throw notFound();
    this.#needs.known.put(record);
    return this.#viewOf(record);
  }

  async #visible(by: Principal, id: string, permission: string, of: SessionOf): Promise<SessionRecord> {
    const [found] = isDeclared(id) ? await this.#needs.store.find([id]) : [];
    if (found === undefined || found.tenantId !== by.tenantId || !isFor(found, of)) throw notFound();
    if (found.principalId === by.id || holds(by, permission)) return found;
    throw notFound();
  }

  async #viewOf(session: SessionRecord): Promise<SessionView> {
    const { rules, admission, clock } = this.#needs;
    const now = clock.wall();
    const day = this.#days.at(now);
    const { id: sessionId, tenantId, agentId, userId, mode, turn } = session;
    const context = {
      tenantId,
      agentId,
      userId,
      sessionId,
      turnId: String(turn),
      ...(mode !== null && { mode }),
    };
    const budgets = budgetsOf(rules, context, { day, now });
    const used = budgets.length === 0 ? [] : await admission.spent(budgets.map(({ key }) => key));
    return {
      session,
      state: stateOf(session),
      budgets: budgets.map((budget, index) => ({
        ...budget,
        used: used?.[index],
        ...(budget.scope !== 'turn' && budget.scope !== 'session' && { freeAt: day.endsAt }),
      })),
    };
  }
}

function stateOf({ endedAt, leftMs }: SessionRecord): SessionState {
  if (endedAt !== null) return 'ended';
  return leftMs > 0 ? 'active' : 'expired';
}

function isFor(session: SessionRecord, { agentId, userId }: SessionOf): boolean {
  return (
    (agentId === undefined || agentId === session.agentId) &&
    (userId === undefined || userId === session.userId)
  );
}

function defined<Of extends object>(said: Of): { [Name in keyof Of]: Exclude<Of[Name], undefined> } {
  const entries = Object.entries(said).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Of]: Exclude<Of[Name], undefined> };
}
