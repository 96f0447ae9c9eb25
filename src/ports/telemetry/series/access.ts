// Series of who may do what: approvals, rules, keys, tokens, agents, sessions.
import { named } from './series-definition.ts';

export const ACCESS_SERIES = named({
  ute_assignments_unread: {
    type: 'gauge',
    help: '1 while the assigned versions of tools cannot be read: those that were known stay in force.',
  },
  ute_assignments: {
    type: 'gauge',
    help: 'Assigned versions of tools, of all tenants, as this replica knows them.',
  },
  ute_sessions_unread: {
    type: 'gauge',
    help: '1 while sessions cannot be read from the database: those that were known stay as they were.',
  },
  ute_wrong_credentials_total: {
    type: 'counter',
    help: 'Requests with a wrong credential by what became of them: refused, or limited, which were not looked at since too many came from their address.',
    labels: ['outcome'],
  },
  ute_approvals_total: {
    type: 'counter',
    help: 'Approvals by event: requested, redeemed, or refused at redemption.',
    labels: ['event'],
  },
  ute_policy_decisions_total: {
    type: 'counter',
    help: 'Decisions of policy rules, by rule and decision: as the rule says, or error, which refuses the call.',
    labels: ['rule', 'decision'],
  },
  ute_chaining_refusals_total: {
    type: 'counter',
    help: 'Calls that a rule about the order of calls refused.',
    labels: ['rule'],
  },
  ute_issuer_keys_unread: {
    type: 'gauge',
    help: '1 while the keys of an issuer of tokens cannot be read: those that were known stay in force.',
    labels: ['issuer'],
  },
  ute_guard_findings_total: {
    type: 'counter',
    help: 'What rules about content found in arguments and results.',
    labels: ['tool', 'direction', 'detector', 'action'],
  },
  ute_approvals_pending: { type: 'gauge', help: 'Approvals that nobody has decided yet, of all tenants.' },
  ute_approvals_expiring: {
    type: 'gauge',
    help: 'Approvals that nobody has decided yet and that expire within 15 minutes, of all tenants.',
  },
  ute_approval_oldest_pending_seconds: {
    type: 'gauge',
    help: 'How long the approval has waited that has waited longest; 0 where none waits.',
  },
  ute_key_service_requests_total: {
    type: 'counter',
    help: 'Requests to the key service of the secrets, by provider and outcome: answered or failed.',
    labels: ['provider', 'outcome'],
  },
  ute_oauth_refreshes_total: {
    type: 'counter',
    help: 'Refreshes of tokens of connected accounts: refreshed, needs_reauth, failed, lost (another replica was first).',
    labels: ['provider', 'outcome'],
  },
  ute_oauth_connections_total: {
    type: 'counter',
    help: 'Accounts that were to be connected for agents: connected, refused, failed.',
    labels: ['provider', 'outcome'],
  },
  ute_oauth_connections_unread: {
    type: 'gauge',
    help: '1 while connected accounts of agents cannot be read: tokens that are known stay in use.',
  },
  ute_api_keys_unread: {
    type: 'gauge',
    help: '1 while the API keys of the database cannot be read: those that were known stay in force.',
  },
  ute_agents_unread: {
    type: 'gauge',
    help: '1 while the agents of the database cannot be read: what was configured stays in force.',
  },
  ute_agents: {
    type: 'gauge',
    help: 'Agents that are declared, of all tenants, as this replica knows them.',
  },
  ute_api_keys: {
    type: 'gauge',
    help: 'API keys of the database that are not revoked, as this replica knows them.',
  },
});
