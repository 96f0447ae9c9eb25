// Before the suites: what they need from the machine is there, or one line names all that is missing.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

interface Needed {
  readonly program: string;
  /** Of Debian and Ubuntu. */
  readonly package: string;
}

const NEEDED: readonly Needed[] = [
  { program: 'python3', package: 'python3' },
  { program: 'openssl', package: 'openssl' },
  { program: 'redis-server', package: 'redis-server' },
  { program: 'pgbouncer', package: 'pgbouncer' },
  { program: 'setpriv', package: 'util-linux' },
];
const BUBBLEWRAP: Needed = { program: 'bwrap', package: 'bubblewrap' };

/** Throws Error with the one line. */
export function setup(): void {
  // Where a machine has no bubblewrap on purpose, the cases of that rung are left out.
  const needed = process.env['UTE_TEST_RUNG'] === 'landlock' ? NEEDED : [...NEEDED, BUBBLEWRAP];
  const fault = missingPrograms(needed, (program) => PLACES.some((dir) => isProgram(join(dir, program))));
  if (fault !== undefined) throw new Error(fault);
}

export function missingPrograms(
  needed: readonly Needed[],
  isThere: (program: string) => boolean,
): string | undefined {
  const missing = needed.filter(({ program }) => !isThere(program));
  if (missing.length === 0) return undefined;
  const programs = missing.map(({ program }) => program).join(', ');
  const packages = missing.map((each) => each.package).join(' ');
  return `The tests need ${programs}: install with "apt-get install ${packages}".`;
}

const PLACES = ['/usr/bin', '/usr/sbin', '/usr/local/bin', ...(process.env['PATH'] ?? '').split(delimiter)];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
