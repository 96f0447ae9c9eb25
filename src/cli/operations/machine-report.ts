// What a bug report says of the machine: nothing that names it or its user.
import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { arch, availableParallelism, freemem, loadavg, platform, release, totalmem } from 'node:os';
import { promisify } from 'node:util';
import type { JsonObject } from '../../contract/json.ts';

const run = promisify(execFile);
const WITHIN_MS = 5_000;
const PROGRAMS = ['python3', 'bwrap', 'prlimit'] as const;

export async function machineReport(dataDir: string | undefined): Promise<JsonObject> {
  const versions = await Promise.all(PROGRAMS.map(async (name) => [name, await versionOf(name)] as const));
  return {
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    cores: availableParallelism(),
    memory_bytes: totalmem(),
    memory_free_bytes: freemem(),
    load: loadavg(),
    programs: Object.fromEntries(versions),
    ...(dataDir !== undefined && { data_dir: await diskOf(dataDir) }),
  };
}

async function versionOf(program: string): Promise<string> {
  try {
    const { stdout, stderr } = await run(program, ['--version'], { timeout: WITHIN_MS });
    return (stdout || stderr).trim().split('\n')[0] ?? '';
  } catch (error) {
    return `cannot be run: ${(error as NodeJS.ErrnoException).code ?? 'failed'}`;
  }
}

async function diskOf(path: string): Promise<JsonObject> {
  try {
    const { bsize, bavail, blocks, ffree } = await statfs(path);
    return { free_bytes: bsize * bavail, size_bytes: bsize * blocks, free_files: ffree };
  } catch (error) {
    return { error: (error as NodeJS.ErrnoException).code ?? 'cannot be read' };
  }
}
