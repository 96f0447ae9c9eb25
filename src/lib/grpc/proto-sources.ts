// .proto files with what they import, read from the folders that the operator names, and from no other.
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, normalize, relative, resolve } from 'node:path';
import protobuf from 'protobufjs';

export interface ProtoSource {
  /** As an import names it. */
  readonly name: string;
  readonly text: string;
  readonly imports: readonly string[];
}

/** Its messages name the file that it was told of so. */
const PARSER = protobuf.parse as { filename?: string | null };
const MOST_FILES = 2_000;
const MOST_BYTES = 32 << 20;

export interface ProtoSources {
  readonly files: readonly ProtoSource[];
  /** Imports that lie nowhere: they matter where a type of theirs is used. */
  readonly missing: readonly string[];
}

/** Throws Error with a sentence for the operator. */
export function readProtoSources(files: readonly string[], importPaths: readonly string[]): ProtoSources {
  const found = new Map<string, ProtoSource>();
  const missing = new Set<string>();
  let bytes = 0;
  const read = (name: string, path: string): void => {
    if (found.has(name)) return;
    const text = textOf(path);
    bytes += text.length;
    if (bytes > MOST_BYTES || found.size >= MOST_FILES)
      throw new Error(
        `protos: the files and what they import are more than ${MOST_FILES} files or ${MOST_BYTES} bytes.`,
      );
    const imports = importsOf(path, text);
    found.set(name, { name, text, imports });
    for (const each of imports) {
      const at = placeOf(each, importPaths);
      if (at !== undefined) read(each, at);
      else if (!isBuiltIn(each)) missing.add(each);
    }
  };
  for (const file of files) {
    const root = importPaths.find((folder) => isBelow(folder, file));
    read(root === undefined ? basename(file) : relative(root, file), file);
  }
  return { files: [...found.values()], missing: [...missing] };
}

/** What comes with the parser. */
export function isBuiltIn(name: string): boolean {
  return protobuf.common.get(name) !== null;
}

function placeOf(name: string, importPaths: readonly string[]): string | undefined {
  if (isAbsolute(name) || normalize(name).startsWith('..')) return undefined;
  return importPaths
    .map((folder) => join(folder, name))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

function isBelow(folder: string, file: string): boolean {
  const inside = relative(resolve(folder), dirname(file));
  return !inside.startsWith('..') && !isAbsolute(inside);
}

function textOf(path: string): string {
  try {
    if (statSync(path).size > MOST_BYTES) throw new Error('it is too large');
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      code === 'ENOENT' ? `protos: ${path} does not exist.` : `protos: ${path} cannot be read: ${message}.`,
      { cause: error },
    );
  }
}

/** By the parser itself, so that an import in a comment is none. */
function importsOf(path: string, text: string): readonly string[] {
  const { imports = [], weakImports = [] } = parsed(path, text, new protobuf.Root());
  return [...imports, ...weakImports];
}

export function parsed(path: string, text: string, root: protobuf.Root): protobuf.IParserResult {
  PARSER.filename = path;
  try {
    return protobuf.parse(text, root, { keepCase: true, alternateCommentMode: true });
  } catch (error) {
    throw new Error(`protos: ${(error as Error).message}.`, { cause: error });
  } finally {
    PARSER.filename = null;
  }
}
