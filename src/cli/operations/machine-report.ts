// What a bug report says of the machine: nothing that names it or its user.
import { statfs } from 'node:fs/promises';
import { arch, availableParallelism, freemem, loadavg, platform, release, totalmem } from 'node:os';
import type { JsonObject } from '../../contract/json.ts';

export async function machineReport(dataDir: string | undefined): Promise<JsonObject> {
  return {
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    cores: availableParallelism(),
    memory_bytes: totalmem(),
    memory_free_bytes: freemem(),
    load: loadavg(),
    ...(dataDir !== undefined && { data_dir: await diskOf(dataDir) }),
  };
}

async function diskOf(path: string): Promise<JsonObject> {
  try {
    const { bsize, bavail, blocks, ffree } = await statfs(path);
    return { free_bytes: bsize * bavail, size_bytes: bsize * blocks, free_files: ffree };
  } catch (error) {
    return { error: (error as NodeJS.ErrnoException).code ?? 'cannot be read' };
  }
}
