// The reasons about agents, what is configured for their tools and the secrets in it, and which versions of tools are assigned to whom.
import { row, type ReasonRow } from './reason-row.ts';

// oxfmt-ignore
export const AGENT_REASONS = {
  AGENTS_FULL: row('UNAVAILABLE', 'there are as many agents, or tools of agents, as the database may hold: delete some'),
  AGENT_EXISTS: row('CONFLICT', 'the tenant has an agent of this name'),
  AGENT_NOT_FOUND: row('NOT_FOUND', 'the tenant has no agent of this name'),
  AGENT_TOOL_NOT_FOUND: row('NOT_FOUND', 'nothing is configured for this tool and agent'),
  ASSIGNMENTS_FULL: row('UNAVAILABLE', 'there are as many assigned versions as the database may hold: delete some'),
  ASSIGNMENT_NOT_FOUND: row('NOT_FOUND', 'no version of the tool is assigned to this tenant, agent or user'),
  CONFIG_MISMATCH: row('VALIDATION', 'config or sensitive_config do not fit the config_schema of the tool: details.violations'),
  KEYS_ELSEWHERE: row('CONFLICT', 'the keys for secrets are in UTE_SECRETS_KEYS: only an operator can change them'),
  SECRETS_KEY_MISSING: row('UNAVAILABLE', 'this gateway does not have the key that a secret of the agent is encrypted with: details.key_id', { ranNothing: true, sparesUpstream: true }),
  SECRETS_PROVIDER_AWAY: row('UNAVAILABLE', 'the key service of the secrets (AWS KMS, Vault) does not answer, or refuses: calls that need a secret cannot run now', { ranNothing: true, sparesUpstream: true }),
  SECRET_UNREADABLE: row('UNAVAILABLE', 'a secret of the agent cannot be decrypted: set it anew', { ranNothing: true, sparesUpstream: true }),
  TOOL_DISABLED_FOR_AGENT: row('PERMISSION_DENIED', 'the tool is switched off for this agent'),
  TOOL_NOT_CONFIGURED: row('PERMISSION_DENIED', 'the tool is not configured for this agent, or no longer as its config_schema asks'),
  TOOL_NOT_IMPLEMENTED: row('NOT_FOUND', 'the agent is configured for a tool of this name, and the gateway has none in force'),
} satisfies Readonly<Record<string, ReasonRow>>;
