// Why the embedded database cannot be made, of all that initdb and the server under it have said, and what helps.
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { remedyOf } from './remedy.ts';

/** In this order: the last line of initdb tells what it cleans up. */
const TELLING: readonly RegExp[] = [/^initdb: error:/, /(?:FATAL|PANIC|ERROR): /, /\S/];

/** `ending`: how it ended, for where it said nothing. */
export function initdbFailure(said: string, ending: string): EmbeddedPostgresError {
  const lines = said.trim().split('\n').toReversed();
  const found = TELLING.map((telling) => lines.find((line) => telling.test(line)));
  const line =
    found.find((each) => each !== undefined)?.replace(/^.*?(?=(?:FATAL|PANIC|ERROR): )/, '') ?? ending;
  return new EmbeddedPostgresError(`the embedded database cannot be made (${line})${remedyOf(said)}`);
}
