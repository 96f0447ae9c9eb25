// AuditChain: the only writer of the audit trail. Whoever adds to the chain of a tenant holds the row that says where it ends.
import { setTimeout } from 'node:timers/promises';
import { CompiledQuery, sql, type Transaction } from 'kysely';
import type { Database } from '../../postgres/database.ts';
import { BinaryRows } from '../../postgres/statements/binary-rows.ts';
import type { Tables } from '../../postgres/tables.ts';
import { storeCalls } from './call-rows.ts';
import { chainLines, type ChainEnd } from './chain-lines.ts';
import { lineText, onlyLines, ownLinesOf, recordWork, type OwnLines } from './own-lines.ts';
import { COPIED_COLUMNS } from './trail-columns.ts';
import { addTrailRows } from './trail-rows.ts';

type Trx = Transaction<Tables>;

/** With the rows, as they come, as its one parameter: copy-statements.ts. */
const STORE = `COPY audit_trail (${COPIED_COLUMNS.join(', ')}) FROM STDIN (FORMAT binary)`;
/** Of a row, mostly. */
const ROW_BYTES = 450;
const MOST_KEPT_BYTES = 4 << 20;
/**
 * Lines that become rows in one go, and the rest after them, which PostgreSQL has for what it was sent: both work for well under a
 * millisecond at a time. Whoever works on without a rest is left a core for some milliseconds, for which a call would wait.
 */
const AT_ONCE = 100;
const REST_MS = 1;
/** Then the others go without a rest: where a turn of the event loop takes long, all rests together would take longer than a statement may. */
const MOST_REST_MS = 500;

export interface Appending {
  /** None of them can be there already. */
  readonly fresh?: boolean;
  /** They tell of calls: rows of those that have ended go, and rows of those that have not are made. */
  readonly ofCalls?: { readonly gateway: string };
}

export class AuditChain {
  readonly #db: Database['db'];
  /** Who may only add records cannot take away those that wait. */
  readonly #owner: Database['owner'];
  /** Days that have a partition. */
  readonly #days = new Set<string>();
  /** Of the rows before, to be written over: new memory for each piece has V8 search its whole heap once a second. */
  #memory: Buffer | undefined;

  constructor({ db, owner }: Pick<Database, 'db' | 'owner'>) {
    this.#db = db;
    this.#owner = owner;
  }

  /** In one transaction. What is there already is left as it is. Throws SyntaxError for what is no record. */
  async append(lines: OwnLines, appending: Appending): Promise<void> {
    await this.#whole(this.#db, (trx) => this.#append(trx, lines, appending));
  }

  /**
   * Chains what statements have recorded on their own; what another replica is chaining at this moment is left to it.
   * Gives how many there were.
   */
  takeIn(limit: number): Promise<number> {
    return this.#whole(this.#owner, async (trx) => {
      const { rows } = await sql<{ id: number; record: string }>`/* take_in_audit_records */
        DELETE FROM audit_inbox WHERE id = ANY(ARRAY(
          SELECT id FROM audit_inbox ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED))
        RETURNING id, record`.execute(trx);
      const sorted = rows.toSorted((one, other) => one.id - other.id).map(({ record }) => record);
      await this.#append(trx, ownLinesOf(sorted), { fresh: true });
      return rows.length;
    });
  }

  /**
   * The first that waits, chained; or, where `isRefused` says of the failure that it is the record's own, given to `reject` and
   * out of the way once that has kept it. Whoever else takes in meanwhile has others. False: none waits.
   */
  takeInOne(
    isRefused: (error: unknown) => boolean,
    reject: (record: string) => Promise<void>,
  ): Promise<boolean> {
    return this.#whole(this.#owner, async (trx) => {
      const { rows } = await sql<{ id: number; record: string }>`
        SELECT id, record FROM audit_inbox ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`.execute(trx);
      const [first] = rows;
      if (first === undefined) return false;
      await sql`SAVEPOINT before_record`.execute(trx);
      try {
        await this.#append(trx, ownLinesOf([first.record]), { fresh: true });
      } catch (error) {
        if (!isRefused(error)) throw error;
        this.#days.clear();
        await sql`ROLLBACK TO SAVEPOINT before_record`.execute(trx);
        await reject(first.record);
      }
      await sql`DELETE FROM audit_inbox WHERE id = ${first.id}`.execute(trx);
      return true;
    });
  }

  /** What a transaction that fails has found or made is not there for the next. */
  async #whole<T>(db: Database['db'], work: (trx: Trx) => Promise<T>): Promise<T> {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      this.#days.clear();
      throw error;
    }
  }

  async #append(trx: Trx, given: OwnLines, { fresh, ofCalls }: Appending): Promise<void> {
    if (given.starts.length === 0) return;
    const tenants = [...new Set(given.tenants)].toSorted();
    const { ends, recordedAt } = await holdChains(trx, tenants);
    // Whatever another has stored of these tenants is committed by now, and seen by the statements that follow.
    const lines = fresh === true ? given : await notThere(trx, given);
    if (lines.starts.length === 0) return;
    await this.#ensureDay(trx, recordedAt.slice(0, 10));
    const chained = await this.#copy(trx, lines, ends, recordedAt);
    if (ofCalls !== undefined) await storeCalls(trx, lines, ofCalls.gateway);
    await moveEnds(trx, ends, chained, recordedAt);
  }

  /** Gives where the chains end then. Throws SyntaxError for what is no record. */
  async #copy(
    trx: Trx,
    lines: OwnLines,
    from: ReadonlyMap<string, ChainEnd>,
    recordedAt: string,
  ): Promise<ReadonlyMap<string, ChainEnd>> {
    const count = lines.starts.length;
    const rows = new BinaryRows(this.#memory ?? Buffer.allocUnsafeSlow(count * ROW_BYTES));
    // Another piece may come while these rows are on their way.
    this.#memory = undefined;
    let ends = from;
    const began = performance.now();
    async function* chained(): AsyncGenerator<Buffer> {
      let done = 0;
      while (done < count) {
        if (done > 0) await setTimeout(REST_MS);
        const most = performance.now() - began < MOST_REST_MS ? AT_ONCE : count;
        const some = { lines, from: done, to: Math.min(done + most, count) };
        const places = chainLines(some, ends, recordedAt);
        addTrailRows(rows, some, places, recordedAt);
        ends = places.ends;
        done = some.to;
        yield rows.written();
      }
      yield rows.complete();
    }
    await trx.executeQuery(CompiledQuery.raw(STORE, [chained()]));
    if (rows.memory.length <= MOST_KEPT_BYTES) this.#memory = rows.memory;
    return ends;
  }

  async #ensureDay(trx: Trx, day: string): Promise<void> {
    if (this.#days.has(day)) return;
    await sql`SELECT audit_partition(${day}::date)`.execute(trx);
    if (this.#days.size > 1) this.#days.clear();
    this.#days.add(day);
  }
}

interface Held {
  readonly ends: ReadonlyMap<string, ChainEnd>;
  readonly recordedAt: string;
}

/** In the order of their names: two writers cannot lock each other out. */
async function holdChains(trx: Trx, tenants: readonly string[]): Promise<Held> {
  const held = async () => {
    const { rows } = await sql<{
      tenant_id: string;
      seq: number;
      hash: string;
      latest: Date;
    }>`/* hold_audit_chains */
      SELECT tenant_id, seq, encode(hash, 'hex') AS hash,
        date_trunc('milliseconds', greatest(recorded_at, clock_timestamp())) AS latest
      FROM audit_chains WHERE tenant_id = ANY(${tenants}::text[]) ORDER BY tenant_id FOR UPDATE`.execute(trx);
    return rows;
  };
  let rows = await held();
  if (rows.length < tenants.length) {
    await sql`INSERT INTO audit_chains (tenant_id) SELECT unnest(${tenants}::text[]) ON CONFLICT DO NOTHING`.execute(
      trx,
    );
    rows = await held();
  }
  // Later than anything in these chains, also where the clock of the database was set back.
  const latest = Math.max(...rows.map((row) => row.latest.getTime()));
  const recordedAt = new Date(latest).toISOString();
  // Not the fault of a record, which would be put aside for it.
  if (!/^\d{4}-/.test(recordedAt))
    throw new Error(
      `audit_chains says ${recordedAt}: somebody has changed recorded_at of one of these tenants`,
    );
  return {
    ends: new Map(rows.map(({ tenant_id: tenant, seq, hash }) => [tenant, { seq, hash }])),
    recordedAt,
  };
}

/** Without those that are in the trail, or twice among the lines. */
async function notThere(trx: Trx, lines: OwnLines): Promise<OwnLines> {
  const ids = lines.starts.map((_, index) => idsOf(lineText(lines, index)));
  const byId = new Map(ids.map(({ eventId }, index) => [eventId, index]));
  const refs = [...byId.values()].map((index) => ids[index]?.ref);
  const { rows } = await sql<{ event_id: string }>`
    SELECT event_id FROM audit_trail WHERE coalesce(call_id, event_id) = ANY(${refs}::text[])
      AND event_id = ANY(${[...byId.keys()]}::text[])`.execute(trx);
  for (const { event_id: eventId } of rows) byId.delete(eventId);
  return onlyLines(lines, [...byId.values()]);
}

function idsOf(line: string): { readonly eventId: string; readonly ref: string } {
  const said = recordWork(() => JSON.parse(line) as { readonly event_id: string; readonly call_id?: string });
  return { eventId: said.event_id, ref: said.call_id ?? said.event_id };
}

async function moveEnds(
  trx: Trx,
  before: ReadonlyMap<string, ChainEnd>,
  after: ReadonlyMap<string, ChainEnd>,
  recordedAt: string,
): Promise<void> {
  const moved = [...after].filter(([tenant, { seq }]) => seq !== before.get(tenant)?.seq);
  await sql`/* move_audit_chains */
    UPDATE audit_chains AS c SET seq = m.seq, hash = decode(m.hash, 'hex'), recorded_at = ${recordedAt}
    FROM unnest(${moved.map(([tenant]) => tenant)}::text[], ${moved.map(([, { seq }]) => seq)}::bigint[],
      ${moved.map(([, { hash }]) => hash)}::text[]) AS m (tenant_id, seq, hash)
    WHERE c.tenant_id = m.tenant_id`.execute(trx);
}
