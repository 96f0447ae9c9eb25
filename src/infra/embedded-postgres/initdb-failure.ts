// Why the embedded database cannot be made, of all that initdb and the server under it have said, and what helps.
import { SAYS_DISK_FULL } from '../../lib/files/disk-full.ts';
import { EmbeddedPostgresError, SET_A_URL } from './embedded-postgres-error.ts';

/** In this order: the last line of initdb tells what it cleans up. */
const TELLING: readonly RegExp[] = [/^initdb: error:/, /(?:FATAL|PANIC|ERROR): /, /\S/];

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/could not look up effective user ID/, `give the gateway's user a line in /etc/passwd, or ${SET_A_URL}`],
  [SAYS_DISK_FULL, 'make room, or set data_dir (UTE_DATA_DIR) to another disk'],
  [
    /insufficient file descriptors|Too many open files/,
    'raise the limit of open files (ulimit -n, LimitNOFILE)',
  ],
];

/** `ending`: how it ended, for where it said nothing. */
export function initdbFailure(said: string, ending: string): EmbeddedPostgresError {
  const lines = said.trim().split('\n').toReversed();
  const found = TELLING.map((telling) => lines.find((line) => telling.test(line)));
  const line =
    found.find((each) => each !== undefined)?.replace(/^.*?(?=(?:FATAL|PANIC|ERROR): )/, '') ?? ending;
  const remedy = REMEDIES.find(([pattern]) => pattern.test(said))?.[1];
  const help = remedy === undefined ? '' : `: ${remedy}`;
  return new EmbeddedPostgresError(`the embedded database cannot be made (${line})${help}`);
}
