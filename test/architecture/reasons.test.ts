// The table of reasons and the code agree: no reason is given that callers cannot look up, and none is listed that nobody gives.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { isErrorType } from '../../src/contract/call/error-types.ts';
import { REASONS, reasonRow } from '../../src/contract/call/reasons/reasons.ts';

const SRC = resolve(import.meta.dirname, '../../src');
/** The table itself, and where a reason is said of something that is no call. */
const OTHERS = new Set([
  'contract/call/reasons/conversation-reasons.ts',
  'contract/call/reasons/reasons.ts',
  'contract/call/reasons/result-reasons.ts',
  'infra/audit/record-gaps.ts',
]);

/** LargeJsonError.reason is a union of its own: there, too, a typo does not compile. */
const TYPED_ELSEWHERE = 'TOO_LONG';

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !OTHERS.has(file))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), 'utf8') }));

it('every reason in the code is in the table', () => {
  const missing = files.flatMap(({ file, text }) =>
    [...text.matchAll(/\breason: '([A-Z][A-Z0-9_]+)'/g)]
      .map(([, reason = '']) => reason)
      .filter((reason) => !Object.hasOwn(REASONS, reason) && !isErrorType(reason))
      .map((reason) => `${file}: ${reason}`),
  );
  expect(missing, 'rows that src/contract/call/reasons/reasons.ts does not have').toEqual([]);
});

it('every reason in the code is given with a type that the table names', () => {
  const failure =
    /new ToolFailure\(\s*'([A-Z_]+)'((?:(?!ToolFailure|\n}|\breason:)[\s\S])*)\breason: '([A-Z][A-Z0-9_]+)'/g;
  const wrong = files.flatMap(({ file, text }) =>
    [...text.matchAll(failure)]
      .filter(([, type = '', , reason = '']) => {
        const row = reasonRow(reason);
        return row !== undefined && !row.types.some((each) => each === type);
      })
      .map(([, type, , reason]) => `${file}: ${type} ${reason}`),
  );
  expect(wrong).toEqual([]);
});

it('every reason of the table is given somewhere in the code', () => {
  const unused = Object.keys(REASONS).filter(
    (reason) => !files.some(({ text }) => text.includes(`'${reason}'`)),
  );
  expect(unused).toEqual([]);
});

it('no reason of the table is compared as a bare string: isReason knows a typo', () => {
  const bare = files.flatMap(({ file, text }) =>
    [...text.matchAll(/\.reason [!=]== '([A-Z][A-Z0-9_]+)'|\.reason\.startsWith\('([A-Z][A-Z0-9_]+)'/g)]
      .filter(([, word = '', beginning]) => beginning !== undefined || Object.hasOwn(REASONS, word))
      .filter(([, word = '']) => word !== TYPED_ELSEWHERE)
      .map(([found]) => `${file}: ${found}`),
  );
  expect(bare).toEqual([]);
});

it('every reason has types that there are, and a sentence without an end', () => {
  for (const [reason, { types, means }] of Object.entries(REASONS)) {
    expect({ reason, unknown: types.filter((type) => !isErrorType(type)) }).toEqual({ reason, unknown: [] });
    expect(types.length).toBeGreaterThan(0);
    expect(means).toMatch(/^[a-z].*[^.]$|^(Redis|MCP|U\+)/);
  }
});
