// Who calls, and what they may: the part of the table of reasons that is about credentials.
import { row, type ReasonRow } from './reason-row.ts';

// oxfmt-ignore
export const IDENTITY_REASONS = {
  CREDENTIALS_DIFFER: row('AUTH', 'the request shows two credentials that are not the same: send one'),
  CREDENTIAL_EXPIRED: row('AUTH', 'the key is past its expires_at, or the token past its time'),
  CREDENTIAL_INVALID: row('AUTH', 'the key is none of auth.keys and none of GET /v1/keys that is in force; the token is none of auth.issuers for this gateway'),
  CREDENTIAL_MISSING: row('AUTH', 'the call has no key, no token and no client certificate'),
  CREDENTIAL_REVOKED: row('AUTH', 'what made the call is gone, or does not serve its tenant any more'),
  FLOOD: row('RATE_LIMIT', 'too many calls in one second with this credential'),
  ISSUER_UNAVAILABLE: row('UNAVAILABLE', 'the keys of the token\'s issuer could not be read since the gateway started'),
  KEYS_FULL: row('UNAVAILABLE', 'there are as many API keys as the database may hold: revoke some'),
  KEY_NOT_FOUND: row('NOT_FOUND', 'there is no API key of this id in the database, or it is revoked'),
  NOT_THE_OWNER: row('PERMISSION_DENIED', 'only the credential that made it may do this'),
  PERMISSION_MISSING: row('PERMISSION_DENIED', 'the credential lacks a permission: the message names it'),
  POLICY_DENIED: row('PERMISSION_DENIED', 'a policy rule refuses the call: details.rule'),
  POLICY_FAILED: row('PERMISSION_DENIED', 'a policy rule could not be evaluated for this call: details.rule, and the log says why'),
  STEP_NOT_ALLOWED: row('PERMISSION_DENIED', 'a tool from elsewhere may not call this one'),
  AGENT_MISMATCH: row('PERMISSION_DENIED', 'the call names an agent that is not one of the credential\'s'),
  TENANT_MISMATCH: row('PERMISSION_DENIED', 'the call names a tenant that is not the credential\'s'),
  USER_MISMATCH: row('PERMISSION_DENIED', 'the call names a user that is not the credential\'s'),
  TOO_MANY_WRONG_CREDENTIALS: row('RATE_LIMIT', 'too many wrong credentials came from the address of the request: for a while no other one of it is looked at'),
  TENANTS_DIFFER: row('VALIDATION', 'header or metadata and context name different tenants'),
  TENANT_NOT_ALLOWED: row('PERMISSION_DENIED', 'the request names a tenant that the credential does not serve'),
  TENANT_REQUIRED: row(['VALIDATION', 'PERMISSION_DENIED'], 'the credential serves several tenants, and the request names none; or it belongs to none, and calls no tools'),
} satisfies Readonly<Record<string, ReasonRow>>;
