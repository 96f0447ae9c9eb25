// WantedScopes: what is asked of a provider for an agent: what gateway.yaml says, and what the agent's tools need.
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import type { KnownAgents } from '../../ports/agents/known-agents.ts';
import type { ConnectionKey } from '../../ports/oauth/connection-store.ts';
import type { OAuthProvider } from '../../ports/oauth/oauth-provider.ts';

export interface WantedScopesNeeds {
  readonly agents: KnownAgents;
  readonly specs: () => readonly ToolSpec[];
}

export class WantedScopes {
  readonly #needs: WantedScopesNeeds;

  constructor(needs: WantedScopesNeeds) {
    this.#needs = needs;
  }

  of(key: ConnectionKey, provider: Pick<OAuthProvider, 'scopes'>): readonly string[] {
    const ofTools = this.toolsOf(key).flatMap(({ auth }) => auth?.managed?.scopes ?? []);
    return [...new Set([...provider.scopes, ...ofTools])].toSorted();
  }

  /** Those of the agent that are given the provider's tokens. */
  toolsOf({ tenantId, agent, provider }: ConnectionKey): readonly ToolSpec[] {
    const configured = this.#needs.agents.find(tenantId, agent)?.tools;
    if (configured === undefined) return [];
    return this.#needs
      .specs()
      .filter(({ name, auth }) => auth?.managed?.provider === provider && configured.has(name));
  }
}

/** Nothing is said of a scope that the provider did not report: it grants what was asked for then. */
export function missingOf(wanted: readonly string[], granted: readonly string[]): readonly string[] {
  return wanted.filter((each) => !granted.includes(each));
}
