// What is wrong with a text as YAML: one mistake once, at its place, and what to do about it.
import type { ErrorCode } from 'yaml';
import { syntaxWords } from './syntax-words.ts';

export interface SyntaxFault {
  readonly offset: number;
  readonly message: string;
}

/** As the parser tells it. */
export interface ParserError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly pos: readonly [number, number];
}

/** What stands after one of these is read with a wrong idea of its place, and refused for it again and again. */
const SPOILS_THE_REST: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BAD_INDENT',
  'BAD_SCALAR_START',
  'BLOCK_AS_IMPLICIT_KEY',
  'BLOCK_IN_FLOW',
  'IMPOSSIBLE',
  'MISSING_CHAR',
  'MULTILINE_IMPLICIT_KEY',
  'NON_STRING_KEY',
  'TAB_AS_INDENT',
  'UNEXPECTED_TOKEN',
]);

/** `errors` as the parser found them, by place. */
export function syntaxFaults(errors: readonly ParserError[], text: string): readonly SyntaxFault[] {
  const spoiling = errors.findIndex(({ code }) => SPOILS_THE_REST.has(code));
  const own = spoiling < 0 ? errors : errors.slice(0, spoiling + 1);
  return own.map((error) => faultOf(error, errors, text));
}

function faultOf(error: ParserError, all: readonly ParserError[], text: string): SyntaxFault {
  const { code, message } = error;
  const [offset] = error.pos;
  if (code === 'TAB_AS_INDENT') return { offset, message: 'a tab indents this line; indent with spaces' };
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && !message.includes('sequence')) {
    const spansLines = all.some(
      (other) => other.code === 'MULTILINE_IMPLICIT_KEY' && other.pos[0] === offset,
    );
    if (!spansLines) return { offset, message: 'a value that holds ": " must stand in quotes' };
    // The parser points at the value that the next line, being deeper, goes on with.
    const message =
      'wrong indentation: this line is deeper than the one before it, which has its value already';
    return { offset: nextContent(text, offset), message };
  }
  if (code === 'MULTILINE_IMPLICIT_KEY') return { offset, message: 'expected a key, ": " and its value' };
  if (isIndentation(error))
    return {
      offset: contentAt(text, offset),
      message: 'wrong indentation: this line begins in no column of those before it',
    };
  return { offset, message: syntaxWords(message, code) };
}

/** Keys of one map, items of one list, that do not stand in one column. */
function isIndentation({ message }: ParserError): boolean {
  return /same column|without - indicator|A block sequence/.test(message);
}

/** The next line that holds more than a comment, at its first character; `offset` where there is none. */
function nextContent(text: string, offset: number): number {
  const found = /\n[ \t]*(?=[^\s#])/.exec(text.slice(offset));
  return found === null ? offset : offset + found.index + found[0].length;
}

/** The parser may point at the line's beginning. */
function contentAt(text: string, offset: number): number {
  const rest = /^[ \t]*(?=\S)/.exec(text.slice(offset));
  return offset + (rest?.[0].length ?? 0);
}
