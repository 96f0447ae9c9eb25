// SqlVoteDelegations: VoteDelegations as rows; they stay after their end, for whoever asks who could vote then.
import { sql, type RawBuilder } from 'kysely';
import type { VoteDelegation, VoteDelegations } from '../../ports/approvals/vote-delegations.ts';
import { OneByOne } from '../../lib/concurrency/one-by-one.ts';
import { columns } from '../postgres/columns.ts';
import type { Database } from '../postgres/database.ts';
import { withDatabase } from '../postgres/database-failures.ts';

// oxfmt-ignore
const NAMES = columns<VoteDelegation>([
  'id', 'tenantId', 'fromUser', 'fromRoles', 'fromToken', 'toUser', 'approverGroups', 'startsAt', 'endsAt', 'createdBy', 'createdAt',
]);
const OPEN = sql`revoked_at IS NULL AND ends_at > now()`;

export class SqlVoteDelegations implements VoteDelegations {
  readonly #database: Pick<Database, 'db'>;
  /** By tenant: a burst of one holds one connection, and not all of them. */
  readonly #making = new OneByOne();

  constructor(database: Pick<Database, 'db'>) {
    this.#database = database;
  }

  create(made: Omit<VoteDelegation, 'createdAt'>, most: number): Promise<VoteDelegation | undefined> {
    return this.#making.run(made.tenantId, () =>
      withDatabase(() =>
        this.#database.db.transaction().execute(async (trx) => {
          // Replicas wait for each other here: the bound holds whoever comes at once.
          await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`delegations of ${made.tenantId}`}, 0))`.execute(
            trx,
          );
          return (await insert(made, most).execute(trx)).rows[0];
        }),
      ),
    );
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

function insert(made: Omit<VoteDelegation, 'createdAt'>, most: number): RawBuilder<VoteDelegation> {
  const {
    id,
    tenantId,
    fromUser,
    fromRoles,
    fromToken,
    toUser,
    approverGroups,
    startsAt,
    endsAt,
    createdBy,
  } = made;
  return sql<VoteDelegation>`
      INSERT INTO approval_delegations (id, tenant_id, from_user, from_roles, from_token, to_user, approver_groups, starts_at, ends_at, created_by)
      SELECT ${id}, ${tenantId}, ${fromUser}, ${fromRoles}::text[], ${fromToken === null ? null : JSON.stringify(fromToken)}::jsonb, ${toUser}, ${approverGroups}::text[],
        ${startsAt}::timestamptz, ${endsAt}::timestamptz, ${createdBy}
      WHERE (SELECT count(*) FROM approval_delegations WHERE tenant_id = ${tenantId} AND ${OPEN}) < ${most}
      RETURNING ${NAMES}`;
}
