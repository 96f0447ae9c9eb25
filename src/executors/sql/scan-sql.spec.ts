// SQL is read like PostgreSQL reads it: placeholders in code become parameters, and nothing else does.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanSql } from './scan-sql.ts';

/** The characters that mean something to the lexer. */
const LEXICAL = ["'", '"', '$', '/', '*', '-', '{', '}', 'a', '1', ';', '\\', ' ', '\n', '&', 'U', 'e', '('];

function readingOf(source: string): string {
  try {
    return `read ${scanSql(source).command}`;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('scanSql', () => {
  it.each([
    ['SELECT {a}, {b}, {a}', 'SELECT $1, $2, $1', ['a', 'b']],
    ['SELECT {n}::int AS n;  ', 'SELECT $1::int AS n', ['n']],
    ['SELECT 1{a}2', 'SELECT 1 $1 2', ['a']],
    ['SELECT {a}{b}', 'SELECT $1 $2', ['a', 'b']],
    ["SELECT '{a}' || {b}", "SELECT '{a}' || $1", ['b']],
    ["SELECT 'it''s {a}', {b}", "SELECT 'it''s {a}', $1", ['b']],
    ["SELECT E'\\'{a}', {b}", "SELECT E'\\'{a}', $1", ['b']],
    ["SELECT '\\', {a}", "SELECT '\\', $1", ['a']],
    ['SELECT "{a}", {b}', 'SELECT "{a}", $1', ['b']],
    ['SELECT $x$ {a} $$ $x$, {b}', 'SELECT $x$ {a} $$ $x$, $1', ['b']],
    ['SELECT 1 -- {a}\n, {b}', 'SELECT 1 -- {a}\n, $1', ['b']],
    ['SELECT /* /* {a} */ {c} */ {b}', 'SELECT /* /* {a} */ {c} */ $1', ['b']],
    ["SELECT U&'\\0041{a}', {b}", "SELECT U&'\\0041{a}', $1", ['b']],
  ])('%s', (source, text, names) => {
    expect(scanSql(source)).toMatchObject({ text, names });
  });

  it.each([
    ['SELECT $1', 'Found "$1"'],
    ['SELECT 1; SELECT 2', 'Expected one statement'],
    ["SELECT 'open", 'is not closed'],
    ['SELECT "open', 'is not closed'],
    ['SELECT $x$ open', 'begins no closed literal'],
    ['SELECT /* open /* */', 'a comment that does not end'],
    ['SELECT {}', 'name of an argument between braces'],
    ['SELECT {a b}', 'name of an argument between braces'],
    ['SELECT }', 'name of an argument between braces'],
    ['SELECT U&"\\0073et_config"(1)', 'write it plainly'],
    ['SELECT \0', 'NUL'],
    [' ; ', 'found none'],
    ['-- only a comment', 'found none'],
  ])('%j is refused', (source, message) => {
    expect(() => scanSql(source)).toThrow(message);
  });

  it('names what is called, as PostgreSQL folds it', () => {
    const { called, command } = scanSql(
      '/* x */ Select Set_Config /* y */ (1), pg_catalog."Lo_Get"(2), "a" FROM f',
    );
    expect(command).toBe('select');
    expect(called).toEqual(new Set(['set_config', 'Lo_Get']));
  });

  it('puts a number for a placeholder wherever it stands between whole tokens, and never inside one', () => {
    const closed = fc.oneof(
      fc.stringMatching(/^[^'\\\0]{0,12}$/).map((text) => `'${text}'`),
      fc.stringMatching(/^[^"\0]{1,12}$/).map((text) => `"${text}"`),
      fc.stringMatching(/^[^$\0]{0,12}$/).map((text) => `$q$${text}$q$`),
      fc.stringMatching(/^[^\n\r\0]{0,12}$/).map((text) => `--${text}\n`),
      fc.stringMatching(/^[^*/\0]{0,12}$/).map((text) => `/*${text}*/`),
    );
    fc.assert(
      fc.property(fc.array(closed, { maxLength: 6 }), (pieces) => {
        const source = `SELECT {p} ${pieces.map((piece) => `, {p} ${piece} `).join('')}`;
        const expected = `SELECT $1 ${pieces.map((piece) => `, $1 ${piece} `).join('')}`;
        expect(scanSql(source).text).toBe(expected.replace(/[\s;]+$/, ''));
      }),
    );
  });

  it('reads any text in one go, or refuses it with a place', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...LEXICAL) }), (source) => {
        expect(readingOf(source)).toMatch(/^read [^]+$|\(column \d+\)$/);
      }),
    );
  });
});
