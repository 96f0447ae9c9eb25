// OAuthConnections: OAuthControl. Who may connect an agent to an account, look and disconnect, for every way to ask.
import { toolFailure } from '../../contract/call/failure.ts';
import { secretPlaceOf } from '../../lib/secrets/token-place.ts';
import type { Principal } from '../../contract/call/principal.ts';
import type { AgentWho } from '../../ports/agents/agent-control.ts';
import type { AgentStore } from '../../ports/agents/agent-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Connection, ConnectionKey, ConnectionStore } from '../../ports/oauth/connection-store.ts';
import type { Flow, FlowStore } from '../../ports/oauth/flow-store.ts';
import type {
  ConnectionView,
  ConnectionWho,
  DeviceView,
  LinkView,
  OAuthControl,
} from '../../ports/oauth/oauth-control.ts';
import {
  GrantRefused,
  type GrantedTokens,
  type OAuthProvider,
  type OAuthProviders,
} from '../../ports/oauth/oauth-provider.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';
import { agentOf } from '../agents/agent-reach.ts';
import { hashOf, type ConnectLinks } from './connect-links.ts';
import type { KeepConnection } from './keep-connection.ts';
import { missingOf, type WantedScopes } from './wanted-scopes.ts';

export interface OAuthConnectionsNeeds {
  readonly store: Pick<ConnectionStore, 'ofAgent'>;
  readonly agents: Pick<AgentStore, 'agent'>;
  readonly flows: FlowStore;
  readonly providers: OAuthProviders;
  readonly links: ConnectLinks;
  readonly scopes: WantedScopes;
  readonly keeper: KeepConnection;
  readonly sealer: SecretSealer;
  readonly clock: Clock;
}

const SLOWER_MS = 5_000;

export class OAuthConnections implements OAuthControl {
  readonly #needs: OAuthConnectionsNeeds;

  constructor(needs: OAuthConnectionsNeeds) {
    this.#needs = needs;
  }

  async list(by: Principal, who: AgentWho): Promise<readonly ConnectionView[]> {
    const { tenantId, agent } = await this.#agent(by, who);
    return (await this.#needs.store.ofAgent(tenantId, agent)).map((each) => this.#view(each));
  }

  async authorize(by: Principal, who: ConnectionWho): Promise<LinkView> {
    const { key, provider } = await this.#which(by, who);
    return this.#needs.links.make(key, provider, by);
  }

  async device(by: Principal, who: ConnectionWho): Promise<DeviceView> {
    const { key, provider } = await this.#which(by, who);
    const { links, scopes, sealer } = this.#needs;
    const granted = await provider.startDevice(scopes.of(key, provider)).catch(refusedDevice);
    if (granted === undefined)
      throw toolFailure(
        'OAUTH_UNSUPPORTED',
        `The provider "${provider.name}" has no device flow: connect the agent by a link.`,
      );
    const { deviceCode, intervalS, expiresInS, ...shown } = granted;
    const sealed = await sealer.seal(deviceCode, secretPlaceOf(key, 'device_code'));
    const times = { lifeMs: expiresInS * 1_000, intervalMs: intervalS * 1_000 };
    const { id, flow } = await links.open(key, provider, by, { kind: 'device', sealed, ...times });
    return { ...key, ...shown, flow: id, intervalS, expiresAt: flow.expiresAt };
  }

  async pollDevice(by: Principal, who: ConnectionWho, id: string) {
    const { key, provider } = await this.#which(by, who);
    const { flows } = this.#needs;
    const flow = await flows.find(hashOf(id));
    if (flow === undefined || !isOf(flow, key, provider))
      throw toolFailure(
        'FLOW_NOT_FOUND',
        'There is no such device flow of this agent and provider, or it has ended.',
      );
    if (!(await flows.claimPoll(flow.idHash))) return { ...key, status: 'pending' as const, problem: '' };
    const answer = await this.#polled(flow, key, provider);
    if (answer === 'slow_down') await flows.slowDown(flow.idHash, SLOWER_MS);
    if (answer === 'pending' || answer === 'slow_down')
      return { ...key, status: 'pending' as const, problem: '' };
    if (answer instanceof GrantRefused) {
      if (!(await flows.end(flow.idHash)))
        throw toolFailure('FLOW_NOT_FOUND', 'This device flow has ended meanwhile.');
      this.#needs.keeper.told(key, 'refused');
      const status = answer.code === 'expired_token' ? ('expired' as const) : ('denied' as const);
      return { ...key, status, problem: answer.code };
    }
    await this.#needs.keeper.keep(key, provider, answer, flow, by);
    this.#needs.keeper.told(key, 'connected');
    return { ...key, status: 'connected' as const, problem: '' };
  }

  async disconnect(by: Principal, who: ConnectionWho) {
    const { tenantId, agent } = await this.#agent(by, who);
    // Also of a provider that gateway.yaml does not have any more.
    const key = { tenantId, agent, provider: who.provider };
    const ended = await this.#needs.keeper.end(key);
    if (ended === undefined)
      throw toolFailure(
        'OAUTH_NOT_CONNECTED',
        'The agent has no account connected at this provider, and none is about to be.',
      );
    return { ...key, ...ended };
  }

  async #polled(
    { sealed }: Flow,
    key: ConnectionKey,
    provider: OAuthProvider,
  ): Promise<GrantedTokens | GrantRefused | 'pending' | 'slow_down'> {
    const code = await this.#needs.sealer.open(sealed ?? '', secretPlaceOf(key, 'device_code'));
    return provider.pollDevice(code).catch((error: unknown) => {
      if (error instanceof GrantRefused) return error;
      throw error;
    });
  }

  async #agent(by: Principal, who: AgentWho) {
    const { tenantId, name } = agentOf(by, who);
    if ((await this.#needs.agents.agent(tenantId, name)) !== undefined) return { tenantId, agent: name };
    throw toolFailure('AGENT_NOT_FOUND', 'The tenant has no agent of this name.');
  }

  async #which(by: Principal, who: ConnectionWho) {
    const { providers } = this.#needs;
    const { tenantId, agent } = await this.#agent(by, who);
    const provider = providers.find(who.provider);
    if (provider === undefined)
      throw toolFailure(
        'OAUTH_PROVIDER_NOT_FOUND',
        `gateway.yaml has no provider of this name; there: ${providers.names.join(', ') || 'none'}.`,
      );
    return { key: { tenantId, agent, provider: provider.name }, provider };
  }

  #view(connection: Connection): ConnectionView {
    const {
      tenantId,
      agent,
      provider: name,
      scopes,
      connectedAt,
      connectedBy,
      refreshedAt,
      problem,
    } = connection;
    const { providerKey, sealed, expiresInMs, state } = connection;
    const isKnown = this.#needs.providers.find(name)?.key === providerKey;
    const wanted = this.#needs.scopes.toolsOf(connection).flatMap(({ auth }) => auth?.managed?.scopes ?? []);
    const hasEnded = expiresInMs !== null && expiresInMs <= 0 && sealed.refresh_token === undefined;
    const isGood = state === 'connected' && !hasEnded && isKnown;
    return {
      tenantId,
      agent,
      provider: name,
      scopes,
      connectedAt,
      connectedBy,
      refreshedAt,
      problem,
      state: isGood ? 'connected' : 'needs_reauth',
      missingScopes: missingOf([...new Set(wanted)], scopes),
      expiresAt: expiresInMs === null ? null : new Date(this.#needs.clock.wall() + expiresInMs),
    };
  }
}

function isOf(flow: Flow, { tenantId, agent }: ConnectionKey, provider: OAuthProvider): boolean {
  const isSame = flow.tenantId === tenantId && flow.agent === agent && flow.provider === provider.name;
  return isSame && flow.kind === 'device' && flow.providerKey === provider.key;
}

function refusedDevice(error: unknown): never {
  if (!(error instanceof GrantRefused)) throw error;
  throw toolFailure(
    'OAUTH_UNSUPPORTED',
    `The provider does not begin a device flow for this gateway (${error.code}).`,
  );
}
