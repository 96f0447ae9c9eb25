// FollowedAgents: the agents of the database, known to this replica. Looked at every second, and at once after a change made here.
import type {
  AgentsInForce,
  AgentStore,
  AgentToolConfig,
  AgentToolKey,
} from '../../ports/agents/agent-store.ts';
import type { KnownAgent, KnownAgents } from '../../ports/agents/known-agents.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';
import { Followed } from '../postgres/followed.ts';

export interface FollowedAgentsNeeds {
  readonly store: Pick<AgentStore, 'generation' | 'inForce'>;
  readonly clock: Clock;
  readonly log: Log;
  /** 1 while they cannot be read. */
  readonly unread: Gauge;
  readonly count: Gauge;
}

const NEVER = -1;
const SAYS = {
  away: 'the agents of the database cannot be read: what was configured stays in force, and a tool that is switched off for an agent now may still be called',
  back: 'the agents of the database can be read again',
};

interface Agent extends KnownAgent {
  readonly tools: Map<string, AgentToolConfig>;
}

export class FollowedAgents implements KnownAgents {
  readonly #needs: FollowedAgentsNeeds;
  /** By agent and tenant: most calls name one agent of many tenants. */
  #agents: ReadonlyMap<string, Agent> = new Map();
  #generation = NEVER;
  readonly #followed: Followed;

  constructor(needs: FollowedAgentsNeeds) {
    this.#needs = needs;
    this.#followed = new Followed({ ...needs, says: SAYS, look: (isStopped) => this.#look(isStopped) });
  }

  get isEmpty(): boolean {
    return this.#agents.size === 0;
  }

  get generation(): number {
    return this.#generation;
  }

  /** They cannot be read: those from before stay in force. */
  get isAway(): boolean {
    return this.#followed.isAway;
  }

  find(tenantId: string, agent: string): KnownAgent | undefined {
    return this.#agents.get(keyOf(tenantId, agent));
  }

  /** Resolves when they are known. Rejects where they cannot be read now: a start without them would let through what is switched off. */
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
    const found = await store.inForce(this.#generation);
    if (isStopped()) return;
    const isFirst = this.#generation === NEVER;
    this.#agents = withChanges(this.#agents, found);
    this.#generation = found.generation;
    count.set(this.#agents.size);
    if (!isFirst)
      log.info(
        { changed: found.changed.length, agents: this.#agents.size },
        'the agents of the database were changed',
      );
  }
}

/** New maps, in which what has not changed is the same object: what was made of it is still good. */
function withChanges(
  before: ReadonlyMap<string, Agent>,
  { agents, tools, changed }: AgentsInForce,
): ReadonlyMap<string, Agent> {
  const after = new Map<string, Agent>(
    agents.map(({ tenantId, name }) => [keyOf(tenantId, name), { tools: new Map() }]),
  );
  const fresh = new Map(changed.map((each) => [toolKeyOf(each), each]));
  for (const each of tools) {
    const known =
      fresh.get(toolKeyOf(each)) ?? before.get(keyOf(each.tenantId, each.agent))?.tools.get(each.tool);
    // One that came between two statements: the next look has it.
    if (known !== undefined) after.get(keyOf(each.tenantId, each.agent))?.tools.set(each.tool, known);
  }
  return after;
}

/** PostgreSQL keeps no NUL: none is in a name. */
function keyOf(tenantId: string, agent: string): string {
  return `${agent}\0${tenantId}`;
}

function toolKeyOf({ tenantId, agent, tool }: AgentToolKey): string {
  return `${keyOf(tenantId, agent)}\0${tool}`;
}
