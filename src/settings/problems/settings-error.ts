// SettingsError: all that is wrong with the settings, each with its place.
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { describeProblem } from '../../lib/text/describe-problem.ts';
import type { Settings } from '../settings-schema.ts';
import type { Source } from '../settings-source.ts';

/** What was said of which not all can be taken. */
export interface Refused {
  /** The file, with the environment over it. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly source: Source;
}

export class SettingsError extends Error {
  readonly problems: readonly Problem[];
  // No properties that a log would take from the error: they hold secrets and keys.
  readonly #refused: Refused | undefined;
  readonly #auth: Settings['auth'] | undefined;

  constructor(problems: readonly Problem[], refused?: Refused, auth?: Settings['auth']) {
    super(problems.map(describeProblem).join('\n'));
    this.problems = problems;
    this.#refused = refused;
    this.#auth = auth;
    this.name = 'SettingsError';
  }

  /** Undefined where plugins alone have refused something. */
  get refused(): Refused | undefined {
    return this.#refused;
  }

  /** What the file says of who is let in, where that is whole by itself and the mistakes are elsewhere. */
  get auth(): Settings['auth'] | undefined {
    return this.#auth;
  }
}
