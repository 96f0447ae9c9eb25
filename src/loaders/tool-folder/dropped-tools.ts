// Tools that were dropped into a folder, schema.json and handler.py in a folder each: read once, as text that nobody can change afterwards.
import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import { parseStrictJson } from '../../lib/json/strict-json.ts';
import { reasonOf } from '../../lib/text/read-text.ts';
import type { ListedDefinition, SeenDefinition } from '../../ports/registry/trusted-definitions.ts';

const SCHEMA = 'schema.json';
const HANDLER = 'handler.py';
const MOST_BYTES = 128 * 1024;
const MOST_TOOLS = 200;
/** More entries of the folder than this are not looked at for changes. */
const MOST_WATCHED = 2_000;
/** Before the name: what is dropped stands in for no other tool. */
const PREFIX = 'custom_';
const NAME = /^[a-z][a-z0-9_]{0,49}$/;

const schemaFile = z.strictObject({
  toolId: z.string().optional(),
  description: z.string().regex(/\S/, 'must say what the tool does').max(4_000),
  category: z.string().regex(/\S/).max(64).default('utility'),
  jsonSchema: z.custom<JsonObject>((value) => isJsonObject(value as JsonValue), 'must be a JSON Schema'),
  outputSchema: z
    .custom<JsonObject>((value) => isJsonObject(value as JsonValue), 'must be a JSON Schema')
    .optional(),
  version: z.string().optional(),
  requiresConfirmation: z.boolean().optional(),
  timeoutMs: z.number().optional(),
  permissions: z.array(z.string()).optional(),
});

export interface DroppedTools {
  readonly found: readonly ListedDefinition[];
  /** How many folders there are beyond those that are read. */
  readonly unread: number;
}

/**
 * The folders of the folder, each as a definition or with the reason why it is none; those of `confirmed` before all others.
 * Rejects where the folder is not there.
 */
export async function droppedTools(root: string, confirmed: ReadonlySet<string>): Promise<DroppedTools> {
  const entries = await readdir(root, { withFileTypes: true });
  const folders = new Map(
    entries
      .filter((entry) => !/^[._]/.test(entry.name) && (entry.isDirectory() || entry.isSymbolicLink()))
      .map((entry) => [entry.name, entry.isDirectory()]),
  );
  const names = [...folders.keys()].toSorted();
  // However many are dropped, none of them pushes out what is served.
  const first = names.filter((name) => confirmed.has(name));
  const read = [...first, ...names.filter((name) => !confirmed.has(name))].slice(0, MOST_TOOLS);
  const found: ListedDefinition[] = [];
  for (const name of read.toSorted()) {
    const seen = await seenIn(root, name, folders.get(name) === true);
    found.push({ tool: `${PREFIX}${name}`, remoteName: name, seen });
  }
  return { found, unread: names.length - read.length };
}

/** What a load would read, as far as it can be told without reading it. */
export async function droppedFingerprint(root: string): Promise<string> {
  const names = (await readdir(root)).toSorted().slice(0, MOST_WATCHED);
  const files = names.flatMap((name) => [SCHEMA, HANDLER].map((file) => join(root, name, file)));
  const abouts = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ ino, size, mtimeMs, ctimeMs }) => [ino, size, mtimeMs, ctimeMs],
        () => null,
      ),
    ),
  );
  return JSON.stringify([names, abouts]);
}

/** From the definition that an operator agreed to: the files may be others by now. */
export function declarationOf(tool: string, { schema, handler }: JsonObject): JsonObject {
  const said = schemaFile.parse(schema);
  const { description, category, jsonSchema, outputSchema, version, timeoutMs, permissions } = said;
  return {
    name: tool,
    description,
    tool_type: 'python',
    input_schema: jsonSchema,
    ...(outputSchema !== undefined && { output_schema: outputSchema }),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    implementation_config: { source: handler ?? '' },
    metadata: {
      category,
      ...(version !== undefined && { version }),
      ...(permissions !== undefined && { permissions }),
      ...(said.requiresConfirmation === true && { requires_approval: true }),
    },
  };
}

async function seenIn(root: string, name: string, isFolder: boolean): Promise<SeenDefinition> {
  if (!isFolder) return { refused: 'a link is not followed: put the folder itself there' };
  if (!NAME.test(name))
    return { refused: 'the name must be a small letter, then up to 49 small letters, digits or "_"' };
  const [schemaText, handler] = [
    await textIn(join(root, name, SCHEMA)),
    await textIn(join(root, name, HANDLER)),
  ];
  if ('message' in schemaText) return { refused: `${SCHEMA} ${schemaText.message}` };
  if ('message' in handler) return { refused: `${HANDLER} ${handler.message}` };
  let schema: unknown;
  try {
    schema = parseStrictJson(schemaText.text);
  } catch (error) {
    return { refused: `${SCHEMA}: ${(error as Error).message}` };
  }
  const read = schemaFile.safeParse(schema);
  if (!read.success) {
    const [issue] = read.error.issues;
    return { refused: `${SCHEMA}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` };
  }
  if ((read.data.toolId ?? name) !== name)
    return { refused: `${SCHEMA}: toolId must be the name of the folder` };
  const definition = { schema: schema as JsonObject, handler: handler.text };
  return { hash: canonicalHash(definition), definition };
}

type Text = { readonly text: string } | { readonly message: string };

/** No link is followed, nothing is waited for, and what is read is the file that was looked at. */
async function textIn(file: string): Promise<Text> {
  try {
    const opened = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!(await opened.stat()).isFile()) return { message: 'is no regular file' };
      const buffer = Buffer.alloc(MOST_BYTES + 1);
      let length = 0;
      while (length < buffer.length) {
        const { bytesRead } = await opened.read(buffer, length, buffer.length - length, length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      if (length > MOST_BYTES) return { message: `is larger than ${MOST_BYTES} bytes` };
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length)) };
    } finally {
      await opened.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP')
      return { message: 'is a link, which is not followed' };
    return { message: reasonOf(error) };
  }
}
