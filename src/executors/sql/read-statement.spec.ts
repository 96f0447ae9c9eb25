// SQL is read by PostgreSQL's own parser: placeholders in code become parameters, and nothing else does.
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { NEWEST_RELEASE } from '../../infra/sql/inspect/inspect-statement.ts';
import { loadParser, PARSER_RELEASE } from './postgres-parser.ts';
import { MAX_LENGTH, readStatement } from './read-statement.ts';

/** The characters that mean something to the lexer. */
const LEXICAL = ["'", '"', '$', '/', '*', '-', '{', '}', 'a', '1', ';', '\\', ' ', '\n', '&', 'U', 'e', '('];

beforeAll(loadParser);

function readingOf(source: string): string {
  try {
    return `read ${readStatement(source).kind}`;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('readStatement', () => {
  it.each([
    ['SELECT {a}, {b}, {a}', 'SELECT $1, $2, $1', ['a', 'b']],
    ['SELECT {n}::int AS n;  ', 'SELECT $1::int AS n', ['n']],
    ['SELECT {user}, {table}', 'SELECT $1, $2', ['user', 'table']],
    ["SELECT '{a}' || {b}", "SELECT '{a}' || $1", ['b']],
    ["SELECT 'it''s {a}', {b}", "SELECT 'it''s {a}', $1", ['b']],
    ["SELECT E'\\'{a}', {b}", "SELECT E'\\'{a}', $1", ['b']],
    ["SELECT E'a'\n'\\'{a}', {b}", "SELECT E'a'\n'\\'{a}', $1", ['b']],
    ["SELECT '\\', {a}", "SELECT '\\', $1", ['a']],
    ['SELECT "{a}", {b}', 'SELECT "{a}", $1', ['b']],
    ['SELECT $x$ {a} $$ $x$, {b}', 'SELECT $x$ {a} $$ $x$, $1', ['b']],
    ['SELECT 1 -- {a}\n, {b} -- {c}; ', 'SELECT 1 -- {a}\n, $1', ['b']],
    ['SELECT /* /* {a} */ {c} */ {b} /* ; */ ;;', 'SELECT /* /* {a} */ {c} */ $1', ['b']],
    ["SELECT U&'\\0041{a}', {b}", "SELECT U&'\\0041{a}', $1", ['b']],
    ["SELECT 'é\u{1f600}', {b}, {c}", "SELECT 'é\u{1f600}', $1, $2", ['b', 'c']],
    ['SELECT x FROM t WHERE{a}AND x', 'SELECT x FROM t WHERE $1 AND x', ['a']],
    [
      'SELECT {embedding.a}::real[], {a}, {embeddings.model}',
      'SELECT $1::real[], $2, $3',
      ['embedding.a', 'a', 'embeddings.model'],
    ],
  ])('%s', (source, text, names) => {
    expect(readStatement(source)).toMatchObject({ text, names });
  });

  it.each([
    ['SELECT $1', 'Found "$1"'],
    ['SELECT 1; SELECT 2', 'Expected one statement'],
    ["SELECT E'a'\n'\\''; SELECT 2 --'", 'Expected one statement'],
    ["SELECT {a}, 'open", 'unterminated quoted string'],
    ['SELECT "open', 'unterminated quoted identifier'],
    ['SELECT $x$ open', 'unterminated dollar-quoted string'],
    ['SELECT /* open /* */', 'unterminated /* comment'],
    ['SELECT {}', 'name of an argument between braces'],
    ['SELECT {embeding.a}', 'what has a dot is {embedding.<argument>}'],
    ['SELECT {embeddings.key}', 'what has a dot is {embedding.<argument>}'],
    ['SELECT {embedding.}', 'name of an argument between braces'],
    ['SELECT {embedding. a}', 'name of an argument between braces'],
    ['SELECT {embedding.a.b}', 'name of an argument between braces'],
    ['SELECT {a b}', 'name of an argument between braces'],
    ['SELECT { a }', 'name of an argument between braces'],
    ['SELECT {é}', 'name of an argument between braces'],
    ['SELECT }', 'name of an argument between braces'],
    ['SELECT ${a}, $$x$$', 'syntax error'],
    ['SELECT {a}{b} c', 'syntax error'],
    ['SELECT 1 FRM a b', 'syntax error at or near'],
    ['SELECT \0', 'NUL'],
    ["SELECT '\ud800'", 'half a character'],
    [`SELECT '${'x'.repeat(MAX_LENGTH)}'`, 'at most'],
    [`SELECT ${'('.repeat(3_000)}1`, 'at most'],
    [`SELECT 1 ${'+'.repeat(60_000)} 1`, 'signs in a row'],
    [`SELECT 1 ${'/*'.repeat(10_000)}${'*/'.repeat(10_000)}`, 'signs in a row'],
    [`SELECT 1 ${'/**/'.repeat(10_000)}`, 'signs in a row'],
    [' ; ', 'found none'],
    ['-- only a comment', 'found none'],
    ['', 'found none'],
  ])('%j is refused', (source, message) => {
    expect(() => readStatement(source)).toThrow(message);
  });

  it.each([
    ['TABLE a', 'SelectStmt', false],
    [`${'-'.repeat(256)}\nSELECT 1 /${'*'.repeat(200)}/`, 'SelectStmt', false],
    ['VALUES (1)', 'SelectStmt', false],
    ['(WITH x AS (SELECT 1) SELECT * FROM x)', 'SelectStmt', false],
    ['WITH x AS (DELETE FROM a RETURNING b) SELECT * FROM x', 'SelectStmt', true],
    ['SELECT (SELECT 1 FROM a FOR UPDATE)', 'SelectStmt', true],
    ['MERGE INTO a USING b ON a.c = b.c WHEN MATCHED THEN DELETE', 'MergeStmt', true],
    ['EXPLAIN DELETE FROM a', 'ExplainStmt', true],
    ['DO $$ BEGIN END $$', 'DoStmt', false],
  ])('%s is a %s, and modifies: %s', (source, kind, modifies) => {
    expect(readStatement(source)).toMatchObject({ kind, modifies });
  });

  it('the deepest nesting that is let through does not break the parser for others', () => {
    for (const [open, close] of [
      ['NOT ', ''],
      ['- ', ''],
      ['1+', ''],
      ['(SELECT ', ')'],
      ['f(', ')'],
      ['ARRAY[', ']'],
      ['CASE WHEN a THEN b ELSE ', ' END'],
    ] as const) {
      for (const depth of [400, 990, 1_400, 2_900])
        expect(readingOf(`SELECT ${open.repeat(depth)}a${close.repeat(depth)}`)).toMatch(
          /^read SelectStmt$|at most|memory exhausted/,
        );
    }
    expect(readingOf('SELECT 1')).toBe('read SelectStmt');
  });

  it('puts a number for a placeholder wherever it stands between whole tokens, and never inside one', () => {
    const closed = fc.oneof(
      fc.stringMatching(/^[^'\\\0]{0,12}$/).map((text) => `'${text}'`),
      fc.stringMatching(/^[^'\\\0]{0,12}$/).map((text) => `E'a'\n'\\'${text}'`),
      fc.stringMatching(/^[^"\0]{1,12}$/).map((text) => `"${text}"`),
      fc.stringMatching(/^[^$\0]{0,12}$/).map((text) => `$q$${text}$q$`),
      fc.stringMatching(/^[^\n\r\0]{0,12}$/).map((text) => `--${text}\n 1`),
      fc.stringMatching(/^[^*/\0]{0,12}$/).map((text) => `/*${text}*/ 1`),
    );
    fc.assert(
      fc.property(fc.array(closed, { maxLength: 6 }), (pieces) => {
        const source = `SELECT {p}${pieces.map((piece) => `, {p}, ${piece}`).join('')}`;
        const expected = `SELECT $1${pieces.map((piece) => `, $1, ${piece}`).join('')}`;
        expect(readStatement(source)).toMatchObject({ text: expected, names: ['p'], modifies: false });
      }),
    );
  });

  it('reads any text as one statement, or refuses it with a sentence', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...LEXICAL) }), (source) => {
        expect(readingOf(`SELECT ${source}`)).toMatch(/^read SelectStmt$|^Expected |^Found |^PostgreSQL/);
      }),
    );
  });

  it('the parser is of the newest PostgreSQL whose statements the gateway checks', () => {
    expect(PARSER_RELEASE).toBe(NEWEST_RELEASE);
  });
});
