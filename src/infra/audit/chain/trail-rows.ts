// Lines of the journal, with their places in the chain, as rows of the audit trail for COPY.
import type { BinaryRows } from '../../postgres/statements/binary-rows.ts';
import type { ChainedLines } from './chain-lines.ts';
import { LineColumns } from './line-columns.ts';
import { recordWork, type SomeLines } from './own-lines.ts';
import { COPIED_COLUMNS } from './trail-columns.ts';

/** Adds a row for each, with the columns of COPIED_COLUMNS. Throws SyntaxError where one is no record, or its columns do not take what it says. */
export function addTrailRows(
  rows: BinaryRows,
  { lines, from, to }: SomeLines,
  { seqs, hashes }: ChainedLines,
  recordedAt: string,
): void {
  const columns = new LineColumns(rows, lines.bytes);
  const chainedAt = Date.parse(recordedAt);
  recordWork(() => {
    for (let index = from; index < to; index += 1) {
      rows.row(COPIED_COLUMNS.length);
      columns.add(lines.starts[index] ?? 0, lines.ends[index] ?? 0);
      rows.long(seqs[index - from] ?? Number.NaN);
      rows.time(chainedAt);
      rows.hex(hashes[index - from] ?? '');
    }
  });
}
