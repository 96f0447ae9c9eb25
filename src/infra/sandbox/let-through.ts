// Opens a folder of the gateway's own for the sandbox's user, no further than it has to be.
import { chmodSync, chownSync, statSync } from 'node:fs';
import { mayPass } from './reachable.ts';
import type { Owner } from './workspace/workspace-files.ts';

/** The least that lets the user pass it: its group, and search permission for that. */
export function letThrough(folder: string, user: Owner): void {
  const { uid, mode, gid } = statSync(folder);
  if (mayPass({ uid, mode, gid }, user)) return;
  chownSync(folder, uid, user.gid);
  chmodSync(folder, (statSync(folder).mode & 0o7700) | 0o010);
}
