// Whether this Node can run an example that brings servers of its own: one that is too old is told so in words, and how to go on.
// Kept to what Node 12 can read; import what is newer after it, by import().
import { readFileSync } from 'fs';
import { relative } from 'path';

/** Ends the process where it is too old. */
export function requireNode() {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const needed = engines.node.replace('>=', '');
  const own = process.versions.node;
  if (rank(own) >= rank(needed)) return;
  const started = relative(process.cwd(), process.argv[1]);
  process.stderr.write(
    `${started} needs Node.js ${needed} or newer; this is ${own} (${process.execPath}): npm ci brings one, for npx node ${started}; or install it from https://nodejs.org\n`,
  );
  process.exit(1);
}

/** As one number: Node has no thousand minor versions. */
function rank(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 1000 + minor;
}
