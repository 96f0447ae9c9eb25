// The documentation of a tool folder: a summary that fits into every prompt, and a text with the sections that a model looks for.
import { DOC_FILE, SUMMARY_FILE } from './folder-files.ts';

export interface TextFault {
  readonly file: typeof DOC_FILE | typeof SUMMARY_FILE;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export const REQUIRED_SECTIONS = ['Summary', 'Parameters', 'Returns', 'Errors'] as const;

const LEAST_LINES = 2;
const MOST_LINES = 4;
const MOST_CHARS = 800;

export function summaryFaults(text: string): readonly TextFault[] {
  const fault = (line: number, message: string): TextFault => ({
    file: SUMMARY_FILE,
    line,
    column: 1,
    message,
  });
  const lines = text.split(/\r?\n/);
  const said = lines.flatMap((line, index) => (/\S/.test(line) ? [index + 1] : []));
  if (said.length < LEAST_LINES || said.length > MOST_LINES) {
    const at = said[MOST_LINES] ?? said.at(-1) ?? 1;
    return [
      fault(
        at,
        `expected ${LEAST_LINES} to ${MOST_LINES} lines, found ${said.length}: the rest belongs into ${DOC_FILE}`,
      ),
    ];
  }
  const length = text.trim().length;
  if (length > MOST_CHARS)
    return [
      fault(
        said[0] ?? 1,
        `expected at most ${MOST_CHARS} characters, found ${length}: it stands in every prompt`,
      ),
    ];
  return [];
}

/** All of them at once. */
export function docFaults(text: string, tool: string): readonly TextFault[] {
  const fault = (line: number, message: string): TextFault => ({ file: DOC_FILE, line, column: 1, message });
  const lines = text.split(/\r?\n/);
  const faults: TextFault[] = [];
  const first = lines.findIndex((line) => /\S/.test(line));
  if (lines[first]?.trim() !== `# ${tool}`)
    faults.push(fault(Math.max(0, first) + 1, `expected the title "# ${tool}" first`));
  const sections = sectionsOf(lines);
  for (const wanted of REQUIRED_SECTIONS) {
    const found = sections.filter(({ title }) => title.toLowerCase() === wanted.toLowerCase());
    const [one, again] = found;
    if (one === undefined) faults.push(fault(lines.length, `the section "## ${wanted}" is missing`));
    else if (one.isEmpty) faults.push(fault(one.line, `the section "## ${wanted}" is empty`));
    if (again !== undefined) faults.push(fault(again.line, `the section "## ${wanted}" is there twice`));
  }
  return faults;
}

interface Section {
  readonly title: string;
  readonly line: number;
  isEmpty: boolean;
}

/** What stands in fenced code is no heading. */
function sectionsOf(lines: readonly string[]): readonly Section[] {
  const sections: Section[] = [];
  let fence = '';
  for (const [index, line] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && (fence === '' || mark.startsWith(fence))) fence = fence === '' ? mark : '';
    const title = fence === '' ? /^## +(.*?) *#*$/.exec(line)?.[1] : undefined;
    const last = sections.at(-1);
    if (title !== undefined) sections.push({ title, line: index + 1, isEmpty: true });
    else if (last !== undefined && /\S/.test(line)) last.isEmpty = false;
  }
  return sections;
}
