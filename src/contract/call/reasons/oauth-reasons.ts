// The reasons about accounts that agents are connected to by OAuth.
import { row, type ReasonRow } from './reason-row.ts';

const FAILED_PRECONDITION = 9;
/** Not 401: the credential of the caller is good, and showing another one changes nothing. */
const ofAgent = { http: 403, grpc: FAILED_PRECONDITION, ranNothing: true, sparesUpstream: true };

// oxfmt-ignore
export const OAUTH_REASONS = {
  FLOWS_FULL: row('UNAVAILABLE', 'too many authorizations of the tenant are under way: wait until some have ended'),
  FLOW_NOT_FOUND: row('NOT_FOUND', 'there is no such authorization, or it has ended: start another one'),
  NEEDS_REAUTH: row('AUTH', 'the account of the agent has to be connected again: details.connect_url, or details.authorize', ofAgent),
  NOT_CONNECTED: row('AUTH', 'no account is connected for this agent: details.connect_url, or details.authorize', ofAgent),
  OAUTH_NOT_CONNECTED: row('NOT_FOUND', 'the agent has no account connected at this provider'),
  OAUTH_PROVIDER_NOT_FOUND: row('NOT_FOUND', 'gateway.yaml has no provider of this name in oauth.providers'),
  OAUTH_UNSUPPORTED: row('CONFLICT', 'the provider, or the gateway, is not set up for this way to connect'),
} satisfies Readonly<Record<string, ReasonRow>>;
