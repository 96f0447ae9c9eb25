// Files of an installation, read by the gateway. Whoever was installed may have run code there: a name may be a link to
// elsewhere, a pipe that never ends, or a file of any size.
import { lstatSync, readFileSync, realpathSync } from 'node:fs';

/** Its real path. Throws Error where it is none, or lies elsewhere. */
export function fileWithin(folder: string, path: string): string {
  const real = realpathSync(path);
  if (!real.startsWith(`${realpathSync(folder)}/`) || !lstatSync(real).isFile())
    throw new Error(`${path} is no file of the package`);
  return real;
}

/** Undefined: there is none, or it is larger than it would honestly be. */
export function textWithin(folder: string, path: string, mostBytes = 32 << 20): string | undefined {
  try {
    const real = fileWithin(folder, path);
    return lstatSync(real).size <= mostBytes ? readFileSync(real, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
