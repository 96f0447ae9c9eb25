// The statements that surround a call's own: its transaction and that transaction's settings; and the names they are prepared under.
import { createHash } from 'node:crypto';
import {
  AGENT_SETTING,
  TENANT_SETTING,
  USER_SETTING,
  type SqlRun,
  type SqlStatement,
} from '../../ports/egress/sql-databases.ts';
import type { NamedStatement } from './session.ts';

export const BEGIN_READ: NamedStatement = { name: 'ute_begin_read', text: 'BEGIN TRANSACTION READ ONLY' };
export const BEGIN_WRITE: NamedStatement = { name: 'ute_begin_write', text: 'BEGIN TRANSACTION READ WRITE' };
export const ROLLBACK: NamedStatement = { name: 'ute_rollback', text: 'ROLLBACK' };

const LOCALS: NamedStatement = {
  name: 'ute_locals',
  text: `SELECT set_config('statement_timeout', $1, true), set_config('${TENANT_SETTING}', $2, true), set_config('${AGENT_SETTING}', $3, true), set_config('${USER_SETTING}', $4, true)`,
};

/** By its text and its types: the same text with others may mean other functions. */
export function namedOf({ text }: SqlStatement, types: readonly number[]): NamedStatement {
  const digest = createHash('sha256')
    .update(JSON.stringify([text, types]))
    .digest('hex');
  return { name: `ute_${digest.slice(0, 32)}`, text, types };
}

/**
 * Settings of this transaction alone; names are ours, values are parameters. A call without a tenant says so too:
 * what a role or a database has as its default would otherwise be its tenant.
 */
export function localsOf({ tenantId = '', agentId = '', userId = '', timeoutMs }: SqlRun) {
  return { ...LOCALS, values: [String(Math.max(1, Math.ceil(timeoutMs))), tenantId, agentId, userId] };
}
