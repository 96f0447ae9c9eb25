// OAuthControl: who may connect agents to accounts, see that and end it, and does so; and the part of a browser in it.
import type { Principal } from '../../contract/call/principal.ts';
import type { AgentWho } from '../agents/agent-control.ts';
import type { ConnectionKey } from './connection-store.ts';

export interface ConnectionWho extends AgentWho {
  readonly provider: string;
}

export interface ConnectionView extends ConnectionKey {
  readonly state: 'connected' | 'needs_reauth';
  readonly scopes: readonly string[];
  /** Asked for by the agent's tools, and not granted. */
  readonly missingScopes: readonly string[];
  readonly expiresAt: Date | null;
  readonly connectedAt: Date;
  readonly connectedBy: string;
  readonly refreshedAt: Date | null;
  readonly problem: string;
}

export interface LinkView extends ConnectionKey {
  readonly url: string;
  readonly expiresAt: Date;
}

export interface DeviceView extends ConnectionKey {
  /** Names the flow in questions about it. */
  readonly flow: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete: string | undefined;
  readonly intervalS: number;
  readonly expiresAt: Date;
}

export type DeviceState = 'pending' | 'connected' | 'denied' | 'expired';

/** Rejects with ToolFailure: PERMISSION_DENIED, NOT_FOUND, CONFLICT, UNAVAILABLE. */
export interface OAuthControl {
  list(by: Principal, who: AgentWho): Promise<readonly ConnectionView[]>;
  /** A link for a human's browser. */
  authorize(by: Principal, who: ConnectionWho): Promise<LinkView>;
  device(by: Principal, who: ConnectionWho): Promise<DeviceView>;
  pollDevice(
    by: Principal,
    who: ConnectionWho,
    flow: string,
  ): Promise<ConnectionKey & { readonly status: DeviceState; readonly problem: string }>;
  /**
   * Whatever is under way to connect it ends as well: `flows` says how many. `revoked`: the provider has taken the tokens back
   * too.
   */
  disconnect(
    by: Principal,
    who: ConnectionWho,
  ): Promise<ConnectionKey & { readonly revoked: boolean; readonly flows: number }>;
}

/** What a human is asked to agree to. */
export interface LinkPage extends ConnectionKey {
  readonly scopes: readonly string[];
}

export interface Callback {
  readonly provider: string;
  readonly parameters: URLSearchParams;
  /** What the browser was given at the start. Undefined: it shows nothing. */
  readonly browser: string | undefined;
}

/** Who it is for, and who asked for the link. */
export interface ConnectFor extends ConnectionKey {
  readonly createdBy: string;
}

export interface ConnectEnd extends ConnectFor {
  /** Asked for by the agent's tools, and not granted. */
  readonly missingScopes: readonly string[];
}

/** The way of a browser: no credential but what the link, and then the provider, has given it. */
export interface OAuthBrowser {
  /** Undefined: this gateway connects no accounts in a browser. */
  readonly publicUrl: URL | undefined;
  /** Undefined: there is no such link, or its time is over. */
  page(link: string): Promise<LinkPage | undefined>;
  /** Where the provider asks for consent. Undefined as of `page`. `found`: there is such a link, and the provider is asked now. */
  begin(link: string, browser: string, found: () => void): Promise<URL | undefined>;
  /**
   * Undefined: nobody waits for this: it was used, is too late, or began in another browser. Rejects with ToolFailure AUTH
   * (NOT_CONNECTED) where the human or the provider said no: `details.code` is a word of RFC 6749, or `other`. `record` is
   * told who it is for, and does the work.
   */
  finish(
    callback: Callback,
    record: (who: ConnectFor, work: () => Promise<ConnectEnd>) => Promise<ConnectEnd>,
  ): Promise<ConnectEnd | undefined>;
}
