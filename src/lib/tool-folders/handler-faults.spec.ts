// A handler by its text: each fault with its place, and nothing of it runs.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { handlerFaults } from './handler-faults.ts';

it.each([
  'export function execute() {}',
  'export async function execute() { return await 1; }',
  'export const execute = async () => 1;',
  'const run = () => 1;\nexport { run as execute };',
  "export * from './run.js';",
  "import { a } from './a.js';\nimport fs from 'node:fs';\nimport x from 'some-package';\nexport const execute = a;",
  '#!/usr/bin/env node\nexport function execute() {}',
])('%s is a handler', (text) => {
  expect(handlerFaults(text)).toEqual([]);
});

it.each([
  [
    'export function execute() {\n  return 1;\n}\nconst x = ;\n',
    4,
    11,
    /no JavaScript module: Unexpected token/,
  ],
  ['', 1, 1, /exports no function execute: it exports nothing/],
  ['export const run = 1;\nexport function other() {}', 1, 1, /it exports run, other/],
  ['function execute() {}', 1, 1, /exports nothing/],
  ['export default function execute() {}', 1, 1, /exports nothing/],
  ['const a = 1;\nexport const execute = 7;', 2, 14, /must be a function/],
  ['export class execute {}', 1, 8, /must be a function/],
  [
    "import { a } from '../a.js';\nexport const execute = a;",
    1,
    19,
    /imports \.\.\/a\.js, which lies outside/,
  ],
  ["export const execute = () => import('/etc/x.js');", 1, 37, /imports \/etc\/x\.js/],
  ["export { execute } from './a/../../b.js';", 1, 25, /outside/],
])('%j has a fault at %i:%i', (text, line, column, message) => {
  expect(handlerFaults(text)).toMatchObject([{ line, column, message: expect.stringMatching(message) }]);
});

it('any text has places that are in it', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).length;
      for (const { line, column } of handlerFaults(text)) {
        expect(line).toBeGreaterThan(0);
        expect(line).toBeLessThanOrEqual(lines);
        expect(column).toBeGreaterThan(0);
      }
    }),
  );
});
