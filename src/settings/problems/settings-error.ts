// SettingsError: all that is wrong with the settings, each with its place.
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { describeProblem } from '../../lib/text/describe-problem.ts';
import type { Settings } from '../settings-schema.ts';

export class SettingsError extends Error {
  readonly problems: readonly Problem[];
  /** What the file says of who is let in, where that is whole by itself and the mistakes are elsewhere. */
  readonly auth: Settings['auth'] | undefined;

  constructor(problems: readonly Problem[], auth?: Settings['auth']) {
    super(problems.map(describeProblem).join('\n'));
    this.problems = problems;
    this.auth = auth;
    this.name = 'SettingsError';
  }
}
