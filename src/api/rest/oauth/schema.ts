// Accounts that agents are connected to, on the wire. No token ever comes out.
import { z } from 'zod';
import { json, route } from '../route/route.ts';
import { count, flag, list, named, oneOf, shape, text, time } from '../route/shapes.ts';
import { agentOnly, query, TAG } from '../agents/schema.ts';

const providerParam = shape(() => z.string().max(64).describe('One of oauth.providers in gateway.yaml.'));
const flowParam = shape(() => z.string().max(64).describe('`flow`, as the start of it gave it.'));
const agentAndProvider = { ...agentOnly, provider: providerParam };

export const OAuthConnection = named('OAuthConnection', () =>
  z.object({
    agent: text(),
    provider: text(),
    state: oneOf(['connected', 'needs_reauth']),
    scopes: list(text()).describe('What was granted.'),
    missing_scopes: list(text()).describe('What tools of the agent ask for, and was not granted.'),
    expires_at: time().nullable().describe('Of the access token; null: the provider does not say.'),
    connected_at: time(),
    connected_by: text('Id of the credential that asked for it.'),
    refreshed_at: time().nullable(),
    problem: text('Why the last refresh failed; empty: it did not.'),
  }),
);
const OAuthConnections = named('OAuthConnections', () => z.object({ connections: list(OAuthConnection()) }));
export const OAuthLink = named('OAuthLink', () =>
  z.object({
    agent: text(),
    provider: text(),
    url: text('For the browser of a human who may agree for the account.').meta({ format: 'uri' }),
    expires_at: time(),
  }),
);
export const OAuthDevice = named('OAuthDevice', () =>
  z.object({
    agent: text(),
    provider: text(),
    flow: text('Names this flow in questions about it.'),
    user_code: text('What the human types in there.'),
    verification_uri: text().meta({ format: 'uri' }),
    verification_uri_complete: text('The same with the code in it.').nullable(),
    interval_s: count('Ask no more often.'),
    expires_at: time(),
  }),
);
export const OAuthDeviceStatus = named('OAuthDeviceStatus', () =>
  z.object({
    agent: text(),
    provider: text(),
    status: oneOf(['pending', 'connected', 'denied', 'expired']),
    problem: text("The provider's word for it; empty: there is none."),
  }),
);
export const OAuthDisconnected = named('OAuthDisconnected', () =>
  z.object({
    agent: text(),
    provider: text(),
    revoked: flag('The provider has taken the tokens back as well. They are deleted here either way.'),
    flows: count('Authorizations that were under way, and have ended with it.'),
  }),
);

export const listConnections = route({
  operationId: 'listOAuthConnections',
  method: 'get',
  path: '/v1/agents/{agent}/oauth',
  tag: TAG,
  summary: 'The accounts that an agent is connected to, without tokens',
  params: agentOnly,
  query,
  answers: { 200: json('All of them, by provider.', OAuthConnections) },
  problems: [404],
});

export const authorize = route({
  operationId: 'authorizeOAuth',
  method: 'post',
  path: '/v1/agents/{agent}/oauth/{provider}/authorize',
  tag: TAG,
  summary: 'A link by which a human connects the agent to an account',
  description:
    'Good for ten minutes and one connection. Whoever opens it chooses the account: give it to nobody else.',
  params: agentAndProvider,
  query,
  answers: { 201: json('The link.', OAuthLink) },
  problems: [404, 409],
});

export const startDevice = route({
  operationId: 'startOAuthDevice',
  method: 'post',
  path: '/v1/agents/{agent}/oauth/{provider}/device',
  tag: TAG,
  summary:
    'Begin to connect an account without a browser here: a code that a human types in elsewhere (RFC 8628)',
  params: agentAndProvider,
  query,
  answers: { 201: json('The code.', OAuthDevice) },
  problems: [404, 409],
});

export const pollDevice = route({
  operationId: 'pollOAuthDevice',
  method: 'post',
  path: '/v1/agents/{agent}/oauth/{provider}/device/{flow}',
  tag: TAG,
  summary: 'Ask whether the human has typed the code in by now; once they have, the account is connected',
  params: { ...agentAndProvider, flow: flowParam },
  query,
  answers: {
    200: json('How it stands. After any other status than pending the flow is over.', OAuthDeviceStatus),
  },
  problems: [404],
});

export const disconnect = route({
  operationId: 'disconnectOAuth',
  method: 'delete',
  path: '/v1/agents/{agent}/oauth/{provider}',
  tag: TAG,
  summary:
    'Disconnect an account: its tokens are deleted here, and revoked at the provider where that takes them back; links and device codes for it end',
  params: agentAndProvider,
  query,
  answers: { 200: json('Disconnected.', OAuthDisconnected) },
  problems: [404],
});
