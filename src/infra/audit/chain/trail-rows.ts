// Lines of the journal, with their places in the chain, as rows of the audit trail: in the text format of COPY.
import { NO_RECORD, recordWork, type ChainedLines, type OwnLine } from './chain-lines.ts';
import { SAME_NAMES } from './trail-columns.ts';

/**
 * In the order of TRAIL_COLUMNS. COPY takes PostgreSQL half the time that reading the lines as JSON does. Throws SyntaxError
 * where one is no record, or no text that can be stored.
 */
export function trailRows(lines: readonly OwnLine[], place: ChainedLines, recordedAt: string): Buffer {
  let rows = '';
  lines.forEach((line, index) => {
    rows += `${ownFields(line)}\t${place.seqs[index]}\t${recordedAt}\t${bytes(place.hashes[index])}\n`;
  });
  // As UTF-8 it would be another text than the one that the chain covers.
  if (!rows.isWellFormed()) throw new SyntaxError('half of a surrogate pair is no character');
  return Buffer.from(rows);
}

/** What the line says itself. */
function ownFields({ text, tenant }: OwnLine): string {
  return recordWork(() => {
    const said = JSON.parse(text) as Readonly<Record<string, unknown>>;
    // Named twice, it would be in the chain of one tenant and among the records of another.
    if (said.tenant_id !== tenant) throw new SyntaxError(NO_RECORD);
    let fields = '';
    for (const name of SAME_NAMES) fields += `${field(said[name])}\t`;
    return `${fields}${bytes(said.arguments_hash)}\t${bytes(said.personal)}\t${bytes(said.personal_salt)}`;
  });
}

const NOTHING = '\\N';

function field(value: unknown): string {
  if (value === undefined || value === null) return NOTHING;
  if (typeof value === 'string') return SPECIAL.test(value) ? value.replaceAll(EACH_SPECIAL, escaped) : value;
  // Of numbers and flags JSON is what PostgreSQL reads.
  const json = JSON.stringify(value);
  return typeof value === 'object' ? field(json) : json;
}

/** Hexadecimal digits, as a bytea. */
function bytes(digits: unknown): string {
  return digits === undefined || digits === null ? NOTHING : `\\\\x${field(digits)}`;
}

const SPECIAL = /[\\\t\n\r]/;
const EACH_SPECIAL = /[\\\t\n\r]/g;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(special: string): string {
  return ESCAPED[special] ?? special;
}
