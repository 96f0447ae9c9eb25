// Lines of the journal, with their places in the chain, as rows of the audit trail for COPY.
import type { BinaryRows } from '../../postgres/statements/binary-rows.ts';
import { NO_RECORD, recordWork, type ChainedLines, type OwnLine } from './chain-lines.ts';
import { IsoTimes } from './iso-times.ts';
import { COPIED_COLUMNS } from './trail-columns.ts';

/** What a line says: whoever wrote it may have said anything. */
type Said = Readonly<Record<string, unknown>>;

/** Adds a row for each, with the columns of COPIED_COLUMNS. Throws SyntaxError where one is no record, or its columns do not take what it says. */
export function addTrailRows(
  rows: BinaryRows,
  lines: readonly OwnLine[],
  { seqs, hashes }: ChainedLines,
  recordedAt: string,
): void {
  const columns = new LineColumns(rows);
  const chainedAt = Date.parse(recordedAt);
  for (const [index, line] of lines.entries()) {
    rows.row(COPIED_COLUMNS.length);
    columns.add(line);
    rows.long(seqs[index] ?? Number.NaN);
    rows.time(chainedAt);
    rows.hex(hashes[index] ?? '');
  }
}

/** The columns of one line after another, as far as they are of the line alone. */
class LineColumns {
  readonly #rows: BinaryRows;
  /** Of the line before: the records of most calls of a tool have these columns alike. */
  #alike: { readonly said: Said; readonly columns: Uint8Array } | undefined;
  readonly #times = new IsoTimes();

  constructor(rows: BinaryRows) {
    this.#rows = rows;
  }

  add({ text, tenant }: OwnLine): void {
    recordWork(() => {
      const said = JSON.parse(text) as Said;
      // Named twice, it would be in the chain of one tenant and among the records of another.
      if (said['tenant_id'] !== tenant) throw new SyntaxError(NO_RECORD);
      this.#addAlike(said);
      this.#addOwn(said);
    });
  }

  #addAlike(said: Said): void {
    const rows = this.#rows;
    if (this.#alike !== undefined && areAlike(said, this.#alike.said)) return rows.piece(this.#alike.columns);
    const start = rows.length;
    this.#text(said['call_kind']);
    this.#text(said['door']);
    this.#text(said['executor']);
    this.#text(said['kind']);
    this.#text(said['outcome']);
    this.#text(said['reason']);
    this.#text(said['registry_version']);
    this.#text(said['requested_tool']);
    this.#text(said['tool']);
    this.#text(said['tool_version']);
    this.#flag(said['idempotent']);
    this.#flag(said['intended']);
    this.#flag(said['partial_side_effects']);
    this.#flag(said['read_only']);
    this.#alike = { said, columns: rows.since(start) };
  }

  #addOwn(said: Said): void {
    this.#text(said['agent_id']);
    this.#text(said['call_id']);
    this.#text(said['event_id']);
    this.#text(said['principal_id']);
    this.#text(said['session_id']);
    this.#text(said['tenant_id']);
    this.#text(said['trace_id']);
    this.#text(said['user_id']);
    this.#time(said['at']);
    this.#integer(said['attempts']);
    this.#double(said['duration_ms']);
    this.#double(said['remaining_ms']);
    this.#json(said['notes']);
    this.#hex(said['arguments_hash']);
    this.#hex(said['personal']);
    this.#hex(said['personal_salt']);
  }

  #text(value: unknown): void {
    if (value === undefined || value === null) this.#rows.nothing();
    else if (typeof value === 'string') this.#rows.text(value);
    else throw new SyntaxError(NO_RECORD);
  }

  #flag(value: unknown): void {
    if (value === undefined || value === null) this.#rows.nothing();
    else if (typeof value === 'boolean') this.#rows.flag(value);
    else throw new SyntaxError(NO_RECORD);
  }

  #hex(value: unknown): void {
    if (value === undefined || value === null) this.#rows.nothing();
    else if (typeof value === 'string') this.#rows.hex(value);
    else throw new SyntaxError(NO_RECORD);
  }

  #integer(value: unknown): void {
    if (value === undefined || value === null) this.#rows.nothing();
    else if (typeof value === 'number' && (value | 0) === value) this.#rows.integer(value);
    else throw new SyntaxError(NO_RECORD);
  }

  #double(value: unknown): void {
    if (value === undefined || value === null) this.#rows.nothing();
    else if (Number.isFinite(value)) this.#rows.double(value as number);
    else throw new SyntaxError(NO_RECORD);
  }

  #json(value: unknown): void {
    if (value === undefined || value === null) this.#rows.nothing();
    else this.#rows.json(JSON.stringify(value));
  }

  /** Read back it has to be the same text, which the chain covers. */
  #time(value: unknown): void {
    if (value === undefined || value === null) return this.#rows.nothing();
    const ms = typeof value === 'string' ? this.#times.ms(value) : Number.NaN;
    if (Number.isNaN(ms)) throw new SyntaxError(NO_RECORD);
    this.#rows.time(ms);
  }
}

/** In all that stands in their first columns. */
function areAlike(one: Said, other: Said): boolean {
  return (
    one['tool'] === other['tool'] &&
    one['outcome'] === other['outcome'] &&
    one['kind'] === other['kind'] &&
    one['call_kind'] === other['call_kind'] &&
    one['door'] === other['door'] &&
    one['executor'] === other['executor'] &&
    one['reason'] === other['reason'] &&
    one['registry_version'] === other['registry_version'] &&
    one['requested_tool'] === other['requested_tool'] &&
    one['tool_version'] === other['tool_version'] &&
    one['idempotent'] === other['idempotent'] &&
    one['intended'] === other['intended'] &&
    one['partial_side_effects'] === other['partial_side_effects'] &&
    one['read_only'] === other['read_only']
  );
}
