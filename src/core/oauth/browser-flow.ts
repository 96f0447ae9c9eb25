// BrowserFlow: OAuthBrowser. From the link to the provider and back: the state is good once, and in the browser that began.
import { randomBytes } from 'node:crypto';
import { toolFailure } from '../../contract/call/failure.ts';
import { secretPlaceOf } from '../../lib/secrets/token-place.ts';
import type { Flow, FlowStore } from '../../ports/oauth/flow-store.ts';
import type {
  Callback,
  ConnectEnd,
  ConnectFor,
  LinkPage,
  OAuthBrowser,
} from '../../ports/oauth/oauth-control.ts';
import { GrantRefused, type OAuthProvider, type OAuthProviders } from '../../ports/oauth/oauth-provider.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';
import { SharedTurns } from '../../lib/concurrency/shared-turns.ts';
import { at, hashOf } from './connect-links.ts';
import type { KeepConnection } from './keep-connection.ts';
import { missingOf, type WantedScopes } from './wanted-scopes.ts';

export interface BrowserFlowNeeds {
  readonly publicUrl: URL | undefined;
  readonly flows: FlowStore;
  readonly providers: OAuthProviders;
  readonly sealer: SecretSealer;
  readonly scopes: WantedScopes;
  readonly keeper: KeepConnection;
}

/** Requests to providers at once, of all tenants: a provider that hangs is waited for by one tenant, and not by all. */
const MOST_ASKING = 32;
/** 32 random bytes, as every link, state and cookie of ours has them. */
const RANDOM = /^[A-Za-z0-9_-]{43}$/;

export class BrowserFlow implements OAuthBrowser {
  readonly #needs: BrowserFlowNeeds;
  readonly #asking = new SharedTurns(MOST_ASKING);
  readonly publicUrl: URL | undefined;

  constructor(needs: BrowserFlowNeeds) {
    this.#needs = needs;
    this.publicUrl = needs.publicUrl;
  }

  async page(link: string): Promise<LinkPage | undefined> {
    const { flow } = (await this.#open(link)) ?? {};
    if (flow === undefined) return undefined;
    const { tenantId, agent, provider, scopes } = flow;
    return { tenantId, agent, provider, scopes };
  }

  async begin(link: string, browser: string, found: () => void): Promise<URL | undefined> {
    const { flow, provider } = (await this.#open(link)) ?? {};
    if (flow === undefined || provider === undefined || !RANDOM.test(browser)) return undefined;
    const [state, verifier] = [randomText(), randomText()];
    const redirectUri = this.#redirectUri(provider);
    found();
    const wanted = { redirectUri, state, verifier, scopes: flow.scopes };
    const url = await this.#asking.run(flow.tenantId, () => provider.authorizationUrl(wanted));
    const stateHash = hashOf(state);
    const sealed = await this.#needs.sealer.seal(verifier, secretPlaceOf(flow, `verifier ${stateHash}`));
    const started = await this.#needs.flows.start(flow.idHash, {
      stateHash,
      browserHash: hashOf(browser),
      sealed,
    });
    return started === undefined ? undefined : url;
  }

  async finish(
    { provider: name, parameters, browser }: Callback,
    record: (who: ConnectFor, work: () => Promise<ConnectEnd>) => Promise<ConnectEnd>,
  ): Promise<ConnectEnd | undefined> {
    const provider = this.#needs.providers.find(name);
    const [state = '', ...others] = parameters.getAll('state');
    if (provider === undefined || others.length > 0 || !RANDOM.test(state)) return undefined;
    if (browser === undefined || !RANDOM.test(browser)) return undefined;
    const flow = await this.#needs.flows.take(hashOf(state), hashOf(browser), name);
    if (flow === undefined || flow.providerKey !== provider.key) return undefined;
    const { tenantId, agent, createdBy } = flow;
    const who = { tenantId, agent, provider: name, createdBy };
    const connect = () => this.#connect(flow, who, provider, { parameters, state });
    return record(who, () => this.#asking.run(tenantId, connect));
  }

  async #connect(
    flow: Flow,
    who: ConnectFor,
    provider: OAuthProvider,
    { parameters, state }: { readonly parameters: URLSearchParams; readonly state: string },
  ): Promise<ConnectEnd> {
    const { flows, sealer, keeper, scopes } = this.#needs;
    try {
      const verifier = await sealer.open(flow.sealed ?? '', secretPlaceOf(flow, `verifier ${hashOf(state)}`));
      const redirectUri = this.#redirectUri(provider);
      const granted = await provider.exchange({ parameters, state, redirectUri, verifier });
      const made = await keeper.keep(who, provider, granted, flow);
      keeper.told(who, 'connected');
      const wanted = scopes.toolsOf(who).flatMap(({ auth }) => auth?.managed?.scopes ?? []);
      return { ...who, missingScopes: missingOf([...new Set(wanted)], made.scopes) };
    } catch (error) {
      await flows.end(flow.idHash).catch(() => false);
      const isRefused = error instanceof GrantRefused;
      keeper.told(who, isRefused ? 'refused' : 'failed');
      if (!isRefused) throw error;
      throw toolFailure('NOT_CONNECTED', 'The account was not connected: the provider said no.', {
        details: { code: error.code },
      });
    }
  }

  async #open(link: string): Promise<{ readonly flow: Flow; readonly provider: OAuthProvider } | undefined> {
    if (!RANDOM.test(link) || this.publicUrl === undefined) return undefined;
    const flow = await this.#needs.flows.find(hashOf(link));
    const provider = flow && this.#needs.providers.find(flow.provider);
    if (flow?.kind !== 'link' || provider?.key !== flow.providerKey) return undefined;
    return { flow, provider };
  }

  /** Each provider has one of its own: an answer that comes back to another is nobody's. */
  #redirectUri({ name }: OAuthProvider): string {
    if (this.publicUrl === undefined) throw new Error('there is no public URL');
    return at(this.publicUrl, `oauth/callback/${name}`);
  }
}

export function randomText(): string {
  return randomBytes(32).toString('base64url');
}
