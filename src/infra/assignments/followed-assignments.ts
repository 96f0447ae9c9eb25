// FollowedAssignments: which versions are assigned to whom, known to this replica. Looked at every second, and at once after a change
// made here.
import type { Assignment, AssignmentStore } from '../../ports/assignments/assignment-store.ts';
import type { KnownAssignments, ToolAssignments } from '../../ports/assignments/known-assignments.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';
import { Followed } from '../postgres/followed.ts';

export interface FollowedAssignmentsNeeds {
  readonly store: Pick<AssignmentStore, 'generation' | 'inForce'>;
  readonly clock: Clock;
  readonly log: Log;
  /** 1 while they cannot be read. */
  readonly unread: Gauge;
  readonly count: Gauge;
}

/** What is said in the log, and while they cannot be read by /readyz. */
export const ASSIGNMENTS_AWAY =
  'the assigned versions of tools cannot be read from the database: those that were known stay in force';
const NEVER = -1;
const SAYS = { away: ASSIGNMENTS_AWAY, back: 'the assigned versions of tools can be read again' };

interface OfTool extends ToolAssignments {
  tenant: string | undefined;
  readonly agents: Map<string, string>;
  readonly users: Map<string, string>;
}
type ByTenant = Map<string, Map<string, OfTool>>;

export class FollowedAssignments implements KnownAssignments {
  readonly #needs: FollowedAssignmentsNeeds;
  #known: ByTenant = new Map();
  #generation = NEVER;
  readonly #followed: Followed;

  constructor(needs: FollowedAssignmentsNeeds) {
    this.#needs = needs;
    this.#followed = new Followed({ ...needs, says: SAYS, look: (isStopped) => this.#look(isStopped) });
  }

  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  /** They cannot be read: those from before stay in force. */
  get isAway(): boolean {
    return this.#followed.isAway;
  }

  ofTenant(tenantId: string): ReadonlyMap<string, ToolAssignments> | undefined {
    return this.#known.get(tenantId);
  }

  /** Resolves when they are known. Rejects where they cannot be read now: a start without them would run other versions. */
  start(): Promise<void> {
    return this.#followed.start();
  }

  stop(): void {
    this.#followed.stop();
  }

  /** Resolves when they are those of the database, if it can be asked. Never rejects. */
  check(): Promise<void> {
    return this.#followed.check();
  }

  async #look(isStopped: () => boolean): Promise<void> {
    const { store, log, count } = this.#needs;
    if ((await store.generation()) === this.#generation) return;
    const { generation, assignments } = await store.inForce();
    if (isStopped()) return;
    const isFirst = this.#generation === NEVER;
    this.#known = byTenant(assignments);
    this.#generation = generation;
    count.set(assignments.length);
    if (!isFirst)
      log.info({ assignments: assignments.length }, 'the assigned versions of tools were changed');
  }
}

function byTenant(assignments: readonly Assignment[]): ByTenant {
  const known: ByTenant = new Map();
  for (const { tenantId, tool, kind, subject, contentHash } of assignments) {
    const tools = known.get(tenantId) ?? new Map<string, OfTool>();
    const ofTool: OfTool = tools.get(tool) ?? { tenant: undefined, agents: new Map(), users: new Map() };
    if (kind === 'tenant') ofTool.tenant = contentHash;
    else (kind === 'agent' ? ofTool.agents : ofTool.users).set(subject, contentHash);
    known.set(tenantId, tools.set(tool, ofTool));
  }
  return known;
}
