// How much lies in a folder; counting stops where it is more than anybody wants.
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

export async function folderBytes(folder: string, enough: number): Promise<number> {
  let bytes = 0;
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined && bytes <= enough; next = waiting.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true })) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else bytes += (await lstat(path)).size;
    }
  }
  return bytes;
}
