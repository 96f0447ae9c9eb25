// A table of text for the terminal.
import { showingHidden } from '../lib/text/hidden-text.ts';

const GAP = '  ';
/** Characters of one cell. */
const MAX_CELL = 60;

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

/**
 * Texts of tools and names of keys may come from elsewhere: no control character reaches the terminal, none that is hidden
 * or turns the direction does so unseen, and none pushes the columns behind it out of sight.
 */
export function printable(cell: string): string {
  const shown = Array.from(showingHidden(cell.replaceAll(/\p{Cc}/gu, ' ')));
  return shown.length <= MAX_CELL ? shown.join('') : `${shown.slice(0, MAX_CELL - 1).join('')}…`;
}
