// Reads an array in PostgreSQL's text format: {1,NULL,"a,b",{…}}. In time that grows with the text and no faster: what it holds
// comes from tables that others fill, and postgres-array 3.0 takes many times as long for texts without a backslash.
import type { JsonValue } from '../../../contract/json.ts';

/** Throws Error for text that is no array. */
export function parseArray(text: string, element: (text: string) => JsonValue): JsonValue[] {
  // Bounds other than 1 stand before it: [0:2]={…}
  const start = text.indexOf('{');
  const levels: JsonValue[][] = [];
  const token = /[{},]|"(?:[^"\\]|\\[\s\S])*"|[^{},"]+/y;
  token.lastIndex = Math.max(start, 0);
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const [piece] = found;
    const open = levels.at(-1);
    if (piece === '{') {
      const level: JsonValue[] = [];
      open?.push(level);
      levels.push(level);
    } else if (piece === '}') {
      if (levels.length === 1 && open !== undefined) return open;
      levels.pop();
    } else if (piece.startsWith('"')) open?.push(element(piece.slice(1, -1).replaceAll(/\\([\s\S])/g, '$1')));
    else if (piece !== ',') open?.push(piece === 'NULL' ? null : element(piece));
  }
  throw new Error('an array ends before its closing brace');
}
