// Whether a program is not there, or lies behind a folder that the gateway's user may not pass, as somebody else's home of mode 0700.
import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';

/** The outermost such folder above an absolute path; undefined where there is none. Root passes everywhere. */
function closedFolderAbove(path: string): string | undefined {
  const above: string[] = [];
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) above.push(folder);
  return above.toReversed().find((folder) => {
    try {
      accessSync(folder, constants.X_OK);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EACCES';
    }
  });
}

/** A sentence for the operator with the folder and the remedy, where it is that which keeps the program away. */
export function behindClosedFolder(program: string): string | undefined {
  const folder = closedFolderAbove(program);
  if (folder === undefined) return undefined;
  return `${program} cannot be reached: the gateway's user may not pass ${folder}. Have its owner run "chmod o+x ${folder}", or keep the program in another folder.`;
}
