// The series of several processes as one exposition: each says in a label whose it is, and a metric is described once.

/** In the order in which they were first seen: all lines of one metric have to stand together. */
interface Family {
  readonly head: string[];
  readonly lines: string[];
}

const COMMENT = /^# (HELP|TYPE|UNIT) (\S+) /;

/** `texts` in one format, each whole. The end of OpenMetrics is written once. */
export function mergeExpositions(texts: readonly string[], format: 'text' | 'openmetrics'): string {
  const families = new Map<string, Family>();
  for (const text of texts) addTo(families, text);
  let merged = '';
  for (const { head, lines } of families.values()) merged += `${[...head, ...lines].join('\n')}\n`;
  return format === 'openmetrics' ? `${merged}# EOF\n` : merged;
}

function addTo(families: Map<string, Family>, text: string): void {
  let family: Family | undefined;
  let isFirst = false;
  let name = '';
  for (const line of text.split('\n')) {
    if (line === '' || line === '# EOF') continue;
    const named = COMMENT.exec(line)?.[2];
    if (named !== undefined && named !== name) {
      name = named;
      isFirst = !families.has(name);
      family = families.get(name) ?? { head: [], lines: [] };
      families.set(name, family);
    }
    if (named === undefined) family?.lines.push(line);
    else if (isFirst) family?.head.push(line);
  }
}
