// What the thread read as declarations for the registry, which find any place in their own piece of the document.
import type { JsonObject } from '../../contract/json.ts';
import type {
  LoadedTools,
  RawConnection,
  RawDeclaration,
  SourcePosition,
} from '../../contract/loaded-tools.ts';
import { locateIn, type Path } from '../../lib/tools-yaml/yaml-text.ts';
import type { Excerpt, ReadDocument, ReadTool } from './read-document.ts';

/** Finding a place parses the piece anew, here, where calls run: of a larger one only the beginning is told. */
const MAX_LOCATED_CHARS = 256 * 1024;
const MOST_PADDING = 1_000;

export function loadedTools(read: ReadDocument, file: string, baseDir: string): LoadedTools {
  return {
    tools: read.tools.map((tool) => declaration(tool, file, baseDir)),
    connections: read.connections.map((connection): RawConnection => {
      const { name } = connection;
      // No references: what is written is what holds.
      return { ...declaration(connection, file, baseDir), name, resolved: connection.value as JsonObject };
    }),
    problems: read.problems,
  };
}

function declaration(
  { value, contentHash, excerpt }: ReadTool,
  file: string,
  baseDir: string,
): RawDeclaration {
  return {
    value,
    contentHash,
    baseDir,
    locate: (path, what = 'value') => placeIn(excerpt, file, path, what),
  };
}

function placeIn(
  { line, column, text }: Excerpt,
  file: string,
  path: Path,
  what: 'key' | 'value',
): SourcePosition {
  if (text.length > MAX_LOCATED_CHARS) return { file, line, column };
  // A block begins in its own column, so that its lines stay below one another.
  const padding = column <= MOST_PADDING ? column - 1 : 0;
  const padded = { file, text: ' '.repeat(padding) + text, lineOf: (each: number) => each + line - 1 };
  const place = locateIn(padded, path, what);
  return place.line === line ? { ...place, column: place.column + column - 1 - padding } : place;
}
