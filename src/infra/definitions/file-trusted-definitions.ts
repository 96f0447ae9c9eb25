// The agreed definitions in a file: data_dir/pins.json, written whole and swapped in. A file that cannot be read keeps the gateway
// from starting.
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { toolFailure } from '../../contract/call/failure.ts';
import { DEFINITION_STATES, type TrustedDefinitions } from '../../ports/registry/trusted-definitions.ts';
import { MemoryTrustedDefinitions, type TrustedDefinitionsDeps } from './memory-trusted-definitions.ts';
import type { PinnedServer } from './pinned-server.ts';

const text = z.string();
const definition = z.record(text, z.json());
const agreed = z.strictObject({ hash: text, definition, at: z.number(), by: text });

const record = z.strictObject({
  server: text,
  tool: text,
  remoteName: text,
  state: z.enum(DEFINITION_STATES),
  pinned: agreed.optional(),
  seen: z.union([z.strictObject({ hash: text, definition }), z.strictObject({ refused: text })]).optional(),
});

const fileSchema = z.strictObject({
  version: z.literal(1),
  servers: z.array(z.strictObject({ server: text, records: z.array(record) })),
});

/** Throws Error with a sentence for the operator: to begin anew would mean to agree to whatever is there now. */
export async function openFileTrustedDefinitions(
  path: string,
  deps: TrustedDefinitionsDeps,
): Promise<TrustedDefinitions> {
  return new MemoryTrustedDefinitions(deps, await read(path), (servers) => write(path, servers));
}

async function read(path: string): Promise<readonly PinnedServer[]> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new Error(`${path}: cannot be read (${(error as Error).message}). ${ADVICE}`, { cause: error });
  }
  const parsed = fileSchema.safeParse(content);
  if (parsed.success) return parsed.data.servers;
  throw new Error(`${path}: is not a file of pins. ${ADVICE}`);
}

const ADVICE =
  'It holds the tool definitions that were agreed to: bring back a copy, or remove it to pin anew what the servers say now.';

async function write(path: string, servers: readonly PinnedServer[]): Promise<void> {
  const beside = `${path}.new`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await rm(beside, { force: true });
    const file = await open(beside, 'wx', 0o600);
    try {
      await file.writeFile(JSON.stringify({ version: 1, servers }));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
  } catch (error) {
    const message = 'Pinned definitions of tools cannot be kept: the data directory cannot be written.';
    throw toolFailure('PINS_UNAVAILABLE', message, { cause: error });
  }
}
