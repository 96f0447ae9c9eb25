// SqlVoteDelegations: VoteDelegations as rows; they stay after their end, for whoever asks who could vote then.
import { sql, type RawBuilder } from 'kysely';
import type { VoteDelegation, VoteDelegations } from '../../ports/approvals/vote-delegations.ts';
import { columns } from '../postgres/columns.ts';
import type { Database } from '../postgres/database.ts';
import { withDatabase } from '../postgres/database-failures.ts';

// prettier-ignore
const NAMES = columns<VoteDelegation>([
  'id', 'tenantId', 'fromUser', 'fromRoles', 'toUser', 'approverGroups', 'startsAt', 'endsAt', 'createdBy', 'createdAt',
]);
const OPEN = sql`revoked_at IS NULL AND ends_at > now()`;

export class SqlVoteDelegations implements VoteDelegations {
  readonly #database: Pick<Database, 'db'>;

  constructor(database: Pick<Database, 'db'>) {
    this.#database = database;
  }

  async create(made: Omit<VoteDelegation, 'createdAt'>, most: number): Promise<VoteDelegation | undefined> {
    const { id, tenantId, fromUser, fromRoles, toUser, approverGroups, startsAt, endsAt, createdBy } = made;
    const [row] = await this.#rows(sql<VoteDelegation>`
      INSERT INTO approval_delegations (id, tenant_id, from_user, from_roles, to_user, approver_groups, starts_at, ends_at, created_by)
      SELECT ${id}, ${tenantId}, ${fromUser}, ${fromRoles}::text[], ${toUser}, ${approverGroups}::text[],
        ${startsAt}::timestamptz, ${endsAt}::timestamptz, ${createdBy}
      WHERE (SELECT count(*) FROM approval_delegations WHERE tenant_id = ${tenantId} AND ${OPEN}) < ${most}
      RETURNING ${NAMES}`);
    return row;
  }

  list(tenantId: string, inForce = false): Promise<readonly VoteDelegation[]> {
    const begun = inForce ? sql`starts_at <= now()` : sql`true`;
    return this.#rows(sql<VoteDelegation>`
      SELECT ${NAMES} FROM approval_delegations WHERE tenant_id = ${tenantId} AND ${OPEN} AND ${begun}
      ORDER BY created_at DESC, id DESC`);
  }

  async get(tenantId: string, id: string): Promise<VoteDelegation | undefined> {
    const [row] = await this.#rows(sql<VoteDelegation>`
      SELECT ${NAMES} FROM approval_delegations WHERE tenant_id = ${tenantId} AND id = ${id} AND ${OPEN}`);
    return row;
  }

  async revoke(tenantId: string, id: string, by: string): Promise<void> {
    await this.#rows(sql`UPDATE approval_delegations SET revoked_at = now(), revoked_by = ${by}
      WHERE tenant_id = ${tenantId} AND id = ${id} AND revoked_at IS NULL`);
  }

  #rows<Row>(statement: RawBuilder<Row>): Promise<readonly Row[]> {
    return withDatabase(async () => (await statement.execute(this.#database.db)).rows);
  }
}
