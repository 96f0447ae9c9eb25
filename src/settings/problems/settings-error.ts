// SettingsError: all that is wrong with the settings, each with its place.
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { describeProblem } from '../../lib/text/describe-problem.ts';

export class SettingsError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(describeProblem).join('\n'));
    this.problems = problems;
    this.name = 'SettingsError';
  }
}
