// What the thread read as declarations for the registry, which find any place in their own piece of the document.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import type {
  LoadedTools,
  RawConnection,
  RawDeclaration,
  SourcePosition,
} from '../../contract/tool/loaded-tools.ts';
import type { Origin } from '../../contract/tool/origin.ts';
import { locateIn, type Path } from '../../lib/tools-yaml/yaml-text.ts';
import type { Excerpt, ReadDocument, ReadTool } from './read-document.ts';

/** Finding a place parses the piece anew, here, where calls run: of a larger one only the beginning is told. */
const MAX_LOCATED_CHARS = 256 * 1024;
const MOST_PADDING = 1_000;

/** Where a document is known from, what relative paths in it start from, and what its tools may do. */
export interface DocumentPlace {
  readonly file: string;
  readonly baseDir: string;
  readonly origin: Origin;
}

export function loadedTools(read: ReadDocument, place: DocumentPlace): LoadedTools {
  return {
    tools: read.tools.map((tool) => declaration(tool, place)),
    connections: read.connections.map((connection): RawConnection => {
      const { name } = connection;
      // No references: what is written is what holds.
      return { ...declaration(connection, place), name, resolved: connection.value as JsonObject };
    }),
    problems: read.problems,
  };
}

function declaration(
  { value, contentHash, excerpt }: ReadTool,
  { file, baseDir, origin }: DocumentPlace,
): RawDeclaration {
  return {
    value,
    // The same text by another hand is another tool.
    contentHash: hash('sha256', JSON.stringify([contentHash, origin])),
    baseDir,
    origin,
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
