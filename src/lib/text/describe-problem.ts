// One line for one problem in what an operator wrote: place, tool, path, and what was expected.

export interface DescribedProblem {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly tool?: string;
  readonly path?: string;
  readonly message: string;
}

export function describeProblem({ file, line, column, tool, path, message }: DescribedProblem): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  const what = [tool, path].filter((part) => part !== undefined && part !== '').join('  ');
  return what === '' ? `${place}  ${message}` : `${place}  ${what}: ${message}`;
}
