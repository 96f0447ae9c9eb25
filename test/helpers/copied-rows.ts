// Reads the binary format of PostgreSQL's COPY, as its documentation has it.

const SIGNATURE = 'PGCOPY\n\xff\r\n\0';

/** The bytes of each column of each row; null of a column that says nothing. Throws where they are not in that format. */
export function copiedRows(copied: Buffer): (Buffer | null)[][] {
  if (copied.toString('latin1', 0, SIGNATURE.length) !== SIGNATURE) throw new Error('no signature');
  let at = SIGNATURE.length;
  const int32 = () => copied.readInt32BE((at += 4) - 4);
  if (int32() !== 0) throw new Error('flags');
  const extension = int32();
  at += extension;
  const rows: (Buffer | null)[][] = [];
  for (;;) {
    const columns = copied.readInt16BE(at);
    at += 2;
    if (columns === -1) break;
    rows.push(
      Array.from({ length: columns }, () => {
        const size = int32();
        if (size === -1) return null;
        at += size;
        if (at > copied.length) throw new Error('a column goes beyond the end');
        return copied.subarray(at - size, at);
      }),
    );
  }
  if (at !== copied.length) throw new Error('something follows the end');
  return rows;
}
