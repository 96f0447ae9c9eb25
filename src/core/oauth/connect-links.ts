// ConnectLinks: links by which a human connects an agent to an account. Each is good for minutes, and for one connection.
import { createHash, randomBytes } from 'node:crypto';
import { toolFailure } from '../../contract/call/failure.ts';
import { holds, type Principal } from '../../contract/call/principal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConnectionKey } from '../../ports/oauth/connection-store.ts';
import type { Flow, FlowDraft, FlowStore } from '../../ports/oauth/flow-store.ts';
import type { LinkView } from '../../ports/oauth/oauth-control.ts';
import type { OAuthProvider, OAuthProviders } from '../../ports/oauth/oauth-provider.ts';
import type { WantedScopes } from './wanted-scopes.ts';

export interface ConnectLinksNeeds {
  readonly flows: Pick<FlowStore, 'create'>;
  readonly providers: OAuthProviders;
  readonly scopes: WantedScopes;
  readonly clock: Clock;
  readonly publicUrl: URL | undefined;
}

/** Who holds it may connect agents, and disconnect them. */
export const CONNECT = 'agents:connect';
export const FLOW_LIFE_MS = 600_000;
const MOST_FLOWS = 1_000;
const MOST_KEPT = 1_000;
const ID_BYTES = 32;

interface Kept {
  readonly link: LinkView;
  readonly until: number;
}

export class ConnectLinks {
  readonly #needs: ConnectLinksNeeds;
  /** Of calls that fail again and again: they are all told of one link. */
  readonly #kept = new Map<string, Kept>();

  constructor(needs: ConnectLinksNeeds) {
    this.#needs = needs;
  }

  /** Rejects with ToolFailure: OAUTH_UNSUPPORTED, FLOWS_FULL, AGENT_NOT_FOUND. */
  async make(key: ConnectionKey, provider: OAuthProvider, by: Principal): Promise<LinkView> {
    const { publicUrl } = this.#needs;
    if (publicUrl === undefined)
      throw toolFailure(
        'OAUTH_UNSUPPORTED',
        'gateway.yaml has no oauth.public_url: no browser can come back to this gateway.',
      );
    const { id, flow } = await this.open(key, provider, by, { kind: 'link', sealed: null, intervalMs: 0 });
    return { ...key, url: at(publicUrl, `oauth/connect/${id}`), expiresAt: flow.expiresAt };
  }

  /** A flow of either kind. `id` is what names it outside. */
  async open(
    key: ConnectionKey,
    provider: OAuthProvider,
    by: Principal,
    {
      lifeMs = FLOW_LIFE_MS,
      ...rest
    }: Pick<FlowDraft, 'kind' | 'sealed' | 'intervalMs'> & { readonly lifeMs?: number },
  ): Promise<{ readonly id: string; readonly flow: Flow }> {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const scopes = this.#needs.scopes.of(key, provider);
    const draft = {
      ...key,
      ...rest,
      idHash: hashOf(id),
      providerKey: provider.key,
      scopes,
      createdBy: by.id,
      createdByUser: by.userId ?? null,
    };
    const flow = await this.#needs.flows.create(draft, lifeMs, MOST_FLOWS);
    if (flow === 'missing') throw toolFailure('AGENT_NOT_FOUND', 'The tenant has no agent of this name.');
    if (flow === 'full')
      throw toolFailure(
        'FLOWS_FULL',
        `The tenant has ${MOST_FLOWS} authorizations under way: each ends after ten minutes.`,
        {
          retryAfterMs: 60_000,
        },
      );
    return { id, flow };
  }

  /** For a call that fails. Undefined: whoever calls may not connect the agent, or there can be no link now. Never rejects. */
  async forCall(key: ConnectionKey, by: Principal | undefined): Promise<LinkView | undefined> {
    const provider = this.#needs.providers.find(key.provider);
    if (by === undefined || provider === undefined || !holds(by, CONNECT)) return undefined;
    const text = JSON.stringify([key.tenantId, key.agent, key.provider, by.id]);
    const now = this.#needs.clock.now();
    const kept = this.#kept.get(text);
    if (kept !== undefined && now < kept.until) return kept.link;
    try {
      const link = await this.make(key, provider, by);
      if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
      this.#kept.set(text, { link, until: now + FLOW_LIFE_MS / 2 });
      return link;
    } catch {
      return undefined;
    }
  }

  /** It was used, or is of no use any more. */
  forget({ tenantId, agent, provider }: ConnectionKey): void {
    const start = JSON.stringify([tenantId, agent, provider]).slice(0, -1);
    for (const text of this.#kept.keys()) if (text.startsWith(start)) this.#kept.delete(text);
  }
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Below the public URL, which may have a path of its own. */
export function at(publicUrl: URL, path: string): string {
  return `${publicUrl.href.replace(/\/$/, '')}/${path}`;
}
