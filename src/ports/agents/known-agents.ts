// KnownAgents: the agents that are declared and what is configured for them, in memory: no call asks the database.
import type { AgentToolConfig } from './agent-store.ts';

export interface KnownAgent {
  readonly tools: ReadonlyMap<string, AgentToolConfig>;
}

export interface KnownAgents {
  /** Nobody has declared one. */
  readonly isEmpty: boolean;
  /** Another one after every change. */
  readonly generation: number;
  find(tenantId: string, agent: string): KnownAgent | undefined;
}
