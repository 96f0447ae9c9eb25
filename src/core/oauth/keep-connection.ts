// KeepConnection: what a provider has granted becomes the agent's connection, in force here at once; and the end of one.
import { toolFailure } from '../../contract/call/failure.ts';
import type { AgentStore } from '../../ports/agents/agent-store.ts';
import type {
  ConnectedBy,
  Connection,
  ConnectionKey,
  ConnectionStore,
} from '../../ports/oauth/connection-store.ts';
import type { Flow } from '../../ports/oauth/flow-store.ts';
import type { KnownConnections } from '../../ports/oauth/known-connections.ts';
import type { GrantedTokens, OAuthProvider, OAuthProviders } from '../../ports/oauth/oauth-provider.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counter, Labelled } from '../../ports/telemetry/metrics.ts';
import type { ConnectLinks } from './connect-links.ts';
import { openToken, sealedTokens } from './seal-tokens.ts';
import type { WantedScopes } from './wanted-scopes.ts';

export interface KeepConnectionNeeds {
  readonly store: Pick<ConnectionStore, 'connect' | 'delete' | 'ofAgent' | 'ofUser'>;
  readonly agents: Pick<AgentStore, 'touchTools'>;
  /** Makes a change of agents be in force here. Never rejects. */
  readonly changed: () => Promise<void>;
  readonly known: KnownConnections;
  readonly providers: OAuthProviders;
  readonly sealer: SecretSealer;
  readonly scopes: WantedScopes;
  readonly links: Pick<ConnectLinks, 'forget'>;
  readonly log: Log;
  /** By provider and outcome: connected, refused, failed. */
  readonly outcomes: Labelled<Counter>;
  readonly random: () => number;
}

export class KeepConnection {
  readonly #needs: KeepConnectionNeeds;

  constructor(needs: KeepConnectionNeeds) {
    this.#needs = needs;
  }

  /** `asked`: the scopes. Rejects with ToolFailure. */
  async keep(
    key: ConnectionKey,
    provider: OAuthProvider,
    granted: GrantedTokens,
    flow: Flow,
    by: ConnectedBy = { id: flow.createdBy, userId: flow.createdByUser },
  ): Promise<Connection> {
    const { store, sealer, known, links, log, random } = this.#needs;
    const { tenantId, agent } = key;
    const tokens = await sealedTokens(sealer, key, granted, { asked: flow.scopes }, random);
    const draft = { tenantId, agent, provider: provider.name, providerKey: provider.key, ...tokens };
    const made = await store.connect(draft, by, flow.idHash);
    if (made === undefined) {
      // Kept nowhere: nobody could take them back later.
      await provider.revoke(granted.refreshToken ?? granted.accessToken).catch(() => false);
      throw toolFailure(
        'FLOW_NOT_FOUND',
        'This authorization has ended meanwhile: its agent was deleted, or its account disconnected.',
      );
    }
    known.put(made);
    links.forget(key);
    await this.#touch(key);
    log.info(
      { tenant: tenantId, agent, provider: provider.name, by: by.id },
      'an account was connected for an agent',
    );
    return made;
  }

  /** With all that is under way to connect it. Undefined: there was neither. */
  async end(key: ConnectionKey): Promise<{ readonly revoked: boolean; readonly flows: number } | undefined> {
    const { store, known, links, log } = this.#needs;
    const { connection, flows } = await store.delete(key);
    known.drop(key);
    links.forget(key);
    if (connection === undefined) return flows === 0 ? undefined : { revoked: false, flows };
    await this.#touch(key);
    const { tenantId, agent, provider } = key;
    const revoked = await this.#revoked(connection);
    log.info(
      { tenant: tenantId, agent, provider, revoked, flows },
      'an account was disconnected from an agent',
    );
    return { revoked, flows };
  }

  /** All that this person has connected, or is about to. Gives how many accounts that were. */
  async endOfUser(tenantId: string, userId: string): Promise<number> {
    const keys = await this.#needs.store.ofUser(tenantId, userId);
    for (const key of keys) await this.end(key);
    return keys.length;
  }

  /** Of an agent that is about to be deleted: what is left to be done once it is. */
  async retire(tenantId: string, agent: string): Promise<() => void> {
    const connections = await this.#needs.store.ofAgent(tenantId, agent);
    return () => {
      for (const each of connections) {
        this.#needs.known.drop(each);
        void this.#revoked(each);
      }
    };
  }

  told({ provider }: Pick<ConnectionKey, 'provider'>, outcome: 'connected' | 'refused' | 'failed'): void {
    this.#needs.outcomes.with(provider, outcome).add();
  }

  /**
   * Approvals and cached answers are those of another account from now on: the tools that use it get another revision.
   * Afterwards: what is cached meanwhile has the old one, which nobody asks for again.
   */
  async #touch(key: ConnectionKey): Promise<void> {
    const { agents, scopes, changed } = this.#needs;
    const tools = scopes.toolsOf(key).map(({ name }) => name);
    if (tools.length === 0) return;
    await agents.touchTools(key.tenantId, key.agent, tools);
    await changed();
  }

  /** Never rejects: what the provider does not take back ends by itself. */
  async #revoked(connection: Connection): Promise<boolean> {
    const { providers, sealer, log } = this.#needs;
    const { tenantId, agent, provider: name, providerKey } = connection;
    const provider = providers.find(name);
    if (provider?.key !== providerKey) return false;
    try {
      const token =
        (await openToken(sealer, connection, 'refresh_token')) ??
        (await openToken(sealer, connection, 'access_token'));
      return token !== undefined && (await provider.revoke(token));
    } catch (error) {
      log.warn(
        { err: error, tenant: tenantId, agent, provider: name },
        'tokens of a disconnected account could not be revoked at the provider: they are deleted here, and end there by themselves',
      );
      return false;
    }
  }
}
