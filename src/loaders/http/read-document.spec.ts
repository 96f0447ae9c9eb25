// A remote document is read as a file would be, and its tools find their places in their own pieces of it.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import { parseWhole } from '../../lib/tools-yaml/parse-whole.ts';
import { loadedTools } from './declarations.ts';
import { readDocument, type RemoteRules } from './read-document.ts';

const FILE = 'https://tools.example.com/tools.yaml';
const PLACE = { file: FILE, baseDir: '/base', origin: { source: 'here', mayCall: [] } };
const rules: RemoteRules = {
  maxTools: 100,
  maxJsonLength: 1_000_000,
  toolTypes: ['http'],
  connections: [],
  allowConnections: true,
  mayCall: [],
};

const read = (text: string, changes: Partial<RemoteRules> = {}) =>
  readDocument({ file: FILE, text, rules: { ...rules, ...changes } });

/** Every path inside a value, with the value itself first. */
function pathsOf(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

/** Where each part of a tool stands, its keys too. */
function placesOf(tool: Pick<RawDeclaration, 'value' | 'locate'>) {
  const paths = pathsOf(tool.value);
  const values = paths.map((path) => tool.locate(path));
  return { values, keys: paths.slice(1).map((path) => tool.locate(path, 'key')) };
}

const word = fc.string({
  unit: fc.constantFrom('a', 'é', ' ', '"', '#', ':', '-', '\n', '😀'),
  maxLength: 8,
});
const leaf = fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null));
const tool = fc.record({
  name: fc.stringMatching(/^[a-z]{1,8}$/),
  tool_type: fc.constant('http'),
  implementation_config: fc.dictionary(
    fc.stringMatching(/^[a-z]{1,4}$/),
    fc.oneof(leaf, fc.array(leaf, { maxLength: 3 })),
  ),
});

describe('a document', () => {
  it('in any layout has the values and the places that a file has', () => {
    fc.assert(
      fc.property(
        fc.array(tool, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(
          (value: unknown) => stringify(value),
          (value: unknown) => stringify(value, { indent: 4, indentSeq: false, lineWidth: 40 }),
          (value: unknown) => stringify(value, { defaultStringType: 'QUOTE_DOUBLE' }),
          (value: unknown) => JSON.stringify(value),
          (value: unknown) => JSON.stringify(value, undefined, 2),
          (value: unknown) => `# comment\n${JSON.stringify(value, undefined, '\t')}`,
        ),
        (tools, write) => {
          const text = write({ tools });
          const whole = parseWhole({ file: FILE, text });
          const { tools: taken, problems } = loadedTools(read(text), PLACE);
          expect(problems).toEqual(whole.problems);
          expect(taken.map(({ value }) => value)).toEqual(whole.tools.map(({ value }) => value));
          expect(JSON.stringify(taken.map(placesOf))).toBe(JSON.stringify(whole.tools.map(placesOf)));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('whatever it holds, is read or refused, never thrown at', () => {
    const piece = fc.constantFrom('tools:', '- ', '  ', '\n', 'name: a', '&x ', '*x', '{', '}', '[', ']', '"', "'", '<<: ', '!!binary ', ': ', '\t', '%', '|\n', '? ', 'connections:', '\u0000', 'a'); // oxfmt-ignore
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const { tools, problems } = read(pieces.join(''));
        expect(problems.length === 0 || tools.length === 0).toBe(true);
        for (const each of loadedTools(read(pieces.join('')), PLACE).tools) each.locate(['name']);
      }),
      { numRuns: 150 },
    );
  });

  it.each(['${env:A}', 'x ${file:/etc/passwd} y', '${env:'])(
    'that says %s anywhere is refused at its place',
    (text) => {
      fc.assert(
        fc.property(fc.constantFrom('description', 'documentation', 'anything'), (key) => {
          const { problems } = read(JSON.stringify({ tools: [{ name: 'a', deep: [{ [key]: text }] }] }));
          expect(problems).toMatchObject([{ tool: 'a', path: `deep.0.${key}`, line: 1 }]);
        }),
      );
    },
  );

  it('may have a parameter called allow_private, which opens nothing', () => {
    const schema = { type: 'object', properties: { allow_private: { type: 'boolean' } } };
    const text = JSON.stringify({ tools: [{ name: 'a', tool_type: 'http', input_schema: schema }] });
    expect(read(text).problems).toEqual([]);
  });
});
