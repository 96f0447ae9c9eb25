// Whether this Node can run the program. Kept to what Node 12 can read: one that is too old is told so in words.
import { readFileSync } from 'fs';

interface Manifest {
  readonly engines: { readonly node: string };
}

/** False: the reason is on stderr, and the process ends with 1 once nothing else runs. */
export function isNodeNewEnough(program: string): boolean {
  const manifest = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as Manifest;
  const needed = manifest.engines.node.replace('>=', '');
  const own = process.versions.node;
  if (rank(own) >= rank(needed)) return true;
  process.exitCode = 1;
  process.stderr.write(
    `${program} needs Node.js ${needed} or newer; this is ${own} (${process.execPath}): install it from https://nodejs.org\n`,
  );
  return false;
}

/** As one number: Node has no thousand minor versions. */
function rank(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 1_000 + minor;
}
