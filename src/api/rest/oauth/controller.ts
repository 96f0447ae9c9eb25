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
    return wire(OAuthLink, await affecting(asked, this.oauth.authorize(asked.principal, whoOf(asked))));
  }

  @Serves(startDevice)
  @Requires(CONNECT)
  @Recorded('agents.oauth.device')
  async device(asked: Asked<typeof startDevice>) {
    const started = await affecting(asked, this.oauth.device(asked.principal, whoOf(asked)));
    const { verificationUriComplete = null, ...rest } = started;
    return wire(OAuthDevice, { ...rest, verificationUriComplete });
  }

  @Serves(pollDevice)
  @Requires(CONNECT)
  @Recorded('agents.oauth.connect', { targetOf: targetOfPoll, unlessAnswered: isPending })
  async poll(asked: Asked<typeof pollDevice>) {
    const state = this.oauth.pollDevice(asked.principal, whoOf(asked), asked.params.flow);
    return wire(OAuthDeviceStatus, await affecting(asked, state));
  }

  @Serves(disconnect)
  @Requires(CONNECT)
  @Recorded('agents.oauth.disconnect')
  async disconnect(asked: Asked<typeof disconnect>) {
    const ended = this.oauth.disconnect(asked.principal, whoOf(asked));
    return wire(OAuthDisconnected, await affecting(asked, ended));
  }
}

interface OfProvider {
  readonly params: { readonly agent: string; readonly provider: string };
  readonly query: { readonly tenant?: string | undefined };
}

function whoOf({ params, query }: OfProvider) {
  return { tenant: query.tenant, agent: params.agent, provider: params.provider };
}

/** The record of the act is that of the tenant whose account it is. */
async function affecting<Done extends { readonly tenantId: string }>(
  asked: { affects(tenant: string): void },
  doing: Promise<Done>,
): Promise<Done> {
  const done = await doing;
  asked.affects(done.tenantId);
  return done;
}

function isPending(answer: unknown): boolean {
  return (answer as { readonly status: string }).status === 'pending';
}

/** The flow itself is nobody's business. */
function targetOfPoll(answer: unknown): string {
  const { agent, provider, status } = answer as { agent: string; provider: string; status: string };
  return `${agent}/${provider}/${status}`;
}
