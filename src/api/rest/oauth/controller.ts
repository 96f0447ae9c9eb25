// Accounts of agents by REST: connected by a link or a device code, looked at, disconnected. No token ever comes out.
import { Controller, Inject } from '@nestjs/common';
import type { OAuthControl } from '../../../ports/oauth/oauth-control.ts';
import { OAUTH_CONTROL } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import {
  authorize,
  disconnect,
  listConnections,
  OAuthConnection,
  OAuthDevice,
  OAuthDeviceStatus,
  OAuthDisconnected,
  OAuthLink,
  pollDevice,
  startDevice,
} from './schema.ts';

const CONNECT = 'agents:connect';

@Controller()
export class OAuthController {
  constructor(@Inject(OAUTH_CONTROL) private readonly oauth: OAuthControl) {}

  @Serves(listConnections)
  @Requires('agents:read')
  async list({ principal, params, query }: Asked<typeof listConnections>) {
    const found = await this.oauth.list(principal, { tenant: query.tenant, agent: params.agent });
    return { connections: found.map((each) => wire(OAuthConnection, each)) };
  }

  @Serves(authorize)
  @Requires(CONNECT)
  @Recorded('agents.oauth.authorize')
  async authorize(asked: Asked<typeof authorize>) {
    const link = await this.oauth.authorize(asked.principal, whoOf(asked));
    asked.affects(link.tenantId);
    return wire(OAuthLink, link);
  }

  @Serves(startDevice)
  @Requires(CONNECT)
  @Recorded('agents.oauth.device')
  async device(asked: Asked<typeof startDevice>) {
    const started = await this.oauth.device(asked.principal, whoOf(asked));
    asked.affects(started.tenantId);
    const { verificationUriComplete = null, ...rest } = started;
    return wire(OAuthDevice, { ...rest, verificationUriComplete });
  }

  @Serves(pollDevice)
  @Requires(CONNECT)
  @Recorded('agents.oauth.connect', { targetOf: targetOfPoll, unlessAnswered: isPending })
  async poll(asked: Asked<typeof pollDevice>) {
    const state = await this.oauth.pollDevice(asked.principal, whoOf(asked), asked.params.flow);
    asked.affects(state.tenantId);
    return wire(OAuthDeviceStatus, state);
  }

  @Serves(disconnect)
  @Requires(CONNECT)
  @Recorded('agents.oauth.disconnect')
  async disconnect(asked: Asked<typeof disconnect>) {
    const ended = await this.oauth.disconnect(asked.principal, whoOf(asked));
    asked.affects(ended.tenantId);
    return wire(OAuthDisconnected, ended);
  }
}

interface OfProvider {
  readonly params: { readonly agent: string; readonly provider: string };
  readonly query: { readonly tenant?: string | undefined };
}

function whoOf({ params, query }: OfProvider) {
  return { tenant: query.tenant, agent: params.agent, provider: params.provider };
}

function isPending(answer: unknown): boolean {
  return (answer as { readonly status: string }).status === 'pending';
}

/** The flow itself is nobody's business. */
function targetOfPoll(answer: unknown): string {
  const { agent, provider, status } = answer as { agent: string; provider: string; status: string };
  return `${agent}/${provider}/${status}`;
}
