// A table of text for the terminal.

const GAP = '  ';

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const text = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
  return `${text.join('\n')}\n`;
}

/** Texts of tools may come from elsewhere: no control character reaches the terminal. */
function printable(cell: string): string {
  return cell.replaceAll(/\p{Cc}/gu, ' ');
}
