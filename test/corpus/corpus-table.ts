// The table of docs/openapi-corpus.md: what of the public documents becomes tools. Counts are alike on every run; times are those of
// the run that wrote it.
import type { Converted } from '../../src/loaders/openapi/convert-document.ts';

export interface Row {
  readonly name: string;
  readonly tools: number;
  readonly leftOut: number;
  readonly cut: number;
  readonly seconds: number;
  readonly megabytes: number;
  readonly why: ReadonlyMap<string, number>;
}

export function rowOf(name: string, all: readonly Converted[], seconds = 0, megabytes = 0): Row {
  const why = new Map<string, number>();
  for (const { reason } of all.flatMap(({ leftOut }) => leftOut)) {
    const kind = kindOf(reason);
    why.set(kind, (why.get(kind) ?? 0) + 1);
  }
  const sum = (count: (each: Converted) => number): number =>
    all.reduce((total, each) => total + count(each), 0);
  return {
    name,
    tools: sum(({ tools }) => tools.length),
    leftOut: sum(({ leftOut }) => leftOut.length),
    cut: sum(({ cut }) => cut),
    seconds,
    megabytes,
    why,
  };
}

/** Without what names the one operation. */
function kindOf(reason: string): string {
  return reason
    .replace(/ at #\S*/, '')
    .replace(/: "(?:[^"\\]|\\.)*"$/, '')
    .replace(/,? ?"(?:[^"\\]|\\.)*",?/g, '')
    .replace(/: (?:properties\S* )?comes after .*/, ': too many sub-schemas')
    .trim();
}

/** Markdown; `measured`: with times. */
export function tableOf(rows: readonly Row[], measured: boolean): string {
  const head = [
    'document',
    'tools',
    'left out',
    'loaded',
    'cut',
    ...(measured ? ['seconds', 'MB'] : []),
    'why left out',
  ];
  const lines = rows.map((row) => {
    const share = `${((100 * row.tools) / (row.tools + row.leftOut)).toFixed(1)} %`;
    const why = [...row.why]
      .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
      .map(([kind, count]) => `${count} × ${kind}`);
    const times = row.seconds === 0 ? ['', ''] : [row.seconds.toFixed(1), String(row.megabytes)];
    return [row.name, row.tools, row.leftOut, share, row.cut, ...(measured ? times : []), why.join('; ')];
  });
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
