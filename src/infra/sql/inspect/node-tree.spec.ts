// Trees as the server writes them: what names look like in them can hide nothing.
import { describe, expect, it } from 'vitest';
import { constantOf, isNode, listOf, nodesOf, only, readTree } from './node-tree.ts';
import { addReferences, noReferences } from './tree-references.ts';

const TEXT = '{CONST :consttype 25 :constlen -1 :constisnull false :constvalue 7 [ 28 0 0 0 97 46 98 ]}';
const CALL = `{FUNCEXPR :funcid 2077 :funcresulttype 25 :args (${TEXT}) :location 7}`;

function referencesOf(text: string) {
  const found = noReferences();
  addReferences(readTree(text), found);
  return found;
}

describe('readTree', () => {
  it('gives nodes, lists and constants', () => {
    const [call] = readTree(CALL);
    expect(isNode(call) && only(call, 'funcid')).toBe('2077');
    expect(isNode(call) ? listOf(call, 'args').map(constantOf) : []).toEqual(['a.b']);
    expect([...nodesOf(readTree(`(${CALL} <> (o 1 2))`))].map(({ tag }) => tag)).toEqual([
      'FUNCEXPR',
      'CONST',
    ]);
  });

  it.each(['', '(', ')', '{QUERY', '({QUERY )}', '{', '{ QUERY}'])('%j is refused', (text) => {
    expect(() => readTree(text)).toThrow('cannot be read');
  });

  it('a name that looks like a part of the tree is a name', () => {
    const alias = String.raw`{ALIAS :aliasname \{FUNCEXPR\ :funcid\ 1\} :colnames ("\)\ :relid\ 5")}`;
    expect(referencesOf(alias).functions.size + referencesOf(alias).relations.size).toBe(0);
  });

  it('is not bounded by the depth of calls', () => {
    const depth = 50_000;
    expect(
      referencesOf(`${'{BOOLEXPR :args ('.repeat(depth)}${CALL}${')}'.repeat(depth)}`).functions.size,
    ).toBe(1);
  });
});

describe('addReferences', () => {
  it('finds functions, operators, relations and types, with the constants that functions are called with', () => {
    const found = referencesOf(
      `({OPEXPR :opno 98 :opfuncid 67 :args (${CALL} {VAR :vartype 1043})} {RANGETBLENTRY :relid 16385} {ROWCOMPAREEXPR :opnos (o 97 98)})`,
    );
    expect([...found.functions]).toEqual([
      [67, [{ firstArgument: undefined, foldable: false }]],
      [2077, [{ firstArgument: 'a.b', foldable: true }]],
    ]);
    expect([...found.operators]).toEqual([98, 97]);
    expect([...found.relations]).toEqual([16385]);
    expect([...found.types]).toContain(1043);
  });

  it('a name that takes the place of a number is refused, not passed over', () => {
    expect(() => referencesOf('{ALIAS :aliasname :funcid :colnames <>}')).toThrow('ALIAS has no funcid');
  });

  it('a part of a statement that this gateway has not met is refused', () => {
    expect(() => referencesOf('{GRAPHTABLE :pattern <>}')).toThrow('not known: GRAPHTABLE');
  });
});
