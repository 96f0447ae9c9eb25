// Toolsets as they are built: what is in them for any selection, and what cannot be offered as an operator wants it.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { functionOf } from '../../../test/helpers/call-kit.ts';
import type { CompiledTool } from '../../contract/tool/compiled-tool.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { atOnce } from '../../lib/concurrency/in-slices.ts';
import { snapshotOf } from '../tool-spec-registry.ts';
import { buildToolset } from './build-toolset.ts';
import type { Selection, ToolsetDefinition } from './toolset-definition.ts';

const compiled = (fn: ToolFunction) => ({ function: fn }) as CompiledTool;
const setOf = (functions: readonly ToolFunction[]) =>
  snapshotOf(
    functions.map(({ spec }) => spec),
    functions.map(compiled),
  );

function build(functions: readonly ToolFunction[], said: Partial<ToolsetDefinition>) {
  const definition: ToolsetDefinition = { overrides: {}, listing: 'full', ...said };
  return atOnce(buildToolset('t', definition, setOf(functions)));
}

const withSchema = (inputSchema: JsonObject, name = 'pay') => functionOf({ name, inputSchema });
const PLAIN = {
  type: 'object',
  properties: {
    to: { type: 'string' },
    amount: { type: 'integer', default: 1 },
    'x-trace': { type: 'string' },
  },
  required: ['to'],
  additionalProperties: false,
};
const wordsOf = ({ warnings }: ReturnType<typeof build>) => warnings.map(({ message }) => message).join('\n');

const NAMES = ['a.one', 'a.two', 'b_one', 'b_two', 'c'];
const TAGS = ['red', 'green'];
const functions = fc
  .uniqueArray(
    fc.record({
      name: fc.constantFrom(...NAMES),
      tags: fc.subarray(TAGS),
      category: fc.constantFrom('retrieval', 'action', undefined),
    }),
    { selector: ({ name }) => name },
  )
  .map((tools) => tools.map(({ name, ...metadata }) => functionOf({ name, metadata })));
const selection = fc.record(
  {
    tools: fc.uniqueArray(fc.constantFrom('a.*', '*one', 'b_two', 'c', '?', 'zz'), { minLength: 1 }),
    tags: fc.uniqueArray(fc.constantFrom(...TAGS, 'blue'), { minLength: 1 }),
    categories: fc.uniqueArray(fc.constantFrom('retrieval', 'action'), { minLength: 1 }),
  },
  { requiredKeys: [] },
);

/** What the words of the reference say, without the code's own matcher. */
function isMeant({ tools = [], tags = [], categories = [] }: Selection, fn: ToolFunction): boolean {
  const globs = tools.map(
    (glob) => new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')}$`),
  );
  return (
    globs.some((glob) => glob.test(fn.name)) ||
    tags.some((tag) => fn.spec.metadata.tags.includes(tag)) ||
    categories.some((category) => fn.spec.metadata.category === category)
  );
}

describe('what a toolset holds', () => {
  it('is what one word of include means and no word of exclude, for any selection', () => {
    fc.assert(
      fc.property(
        functions,
        fc.option(selection, { nil: undefined }),
        fc.option(selection, { nil: undefined }),
        (all, include, exclude) => {
          const { toolset } = build(all, { include, exclude });
          const expected = all
            .filter(
              (fn) =>
                (include === undefined || isMeant(include, fn)) &&
                !(exclude !== undefined && isMeant(exclude, fn)),
            )
            .map(({ name }) => name)
            .toSorted();
          expect(toolset.tools.functions.map(({ name }) => name)).toEqual(expected);
          for (const { name } of all)
            expect(toolset.member(name) !== undefined).toBe(expected.includes(name));
        },
      ),
    );
  });

  it('finds each tool by its name there and by the spelling for providers, and by nothing else', () => {
    const names = fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom('a', 'b', 'a__one', 'c', 'z'));
    fc.assert(
      fc.property(functions, names, (all, renamed) => {
        const overrides = Object.fromEntries(Object.entries(renamed).map(([tool, name]) => [tool, { name }]));
        const { toolset } = build(all, { overrides });
        const { tools } = toolset;
        const spellings = tools.functions.map(({ name }) => tools.providerName(name));
        expect(new Set(spellings).size).toBe(tools.functions.length);
        expect(new Set(tools.functions.map(({ name }) => name)).size).toBe(tools.functions.length);
        for (const { name, spec } of tools.functions) {
          for (const said of [name, tools.providerName(name)])
            expect(toolset.member(said)?.tool).toBe(spec.name);
        }
      }),
    );
  });

  it('says which words mean no tool now', () => {
    const { warnings } = build([functionOf({ name: 'c' })], {
      include: { tools: ['c', 'nothing.*'], tags: ['none'] },
      overrides: { gone: { name: 'x' } },
    });
    expect(warnings.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([
      'toolsets.t.include.tools: no tool is meant by "nothing.*" now',
      'toolsets.t.include.tags: no tool is meant by "none" now',
      'toolsets.t.overrides.gone: no tool of this name is in the toolset now',
    ]);
  });
});

describe('a parameter that is fixed or hidden', () => {
  it('is in no schema, and closed in every spelling that callers may use', () => {
    const { toolset } = build([withSchema(PLAIN)], {
      overrides: { pay: { fixed: { 'x-trace': 'on' }, hidden: ['amount'] } },
    });
    expect(toolset.tools.functions[0]?.inputSchema).toEqual({
      type: 'object',
      properties: { to: { type: 'string' } },
      required: ['to'],
      additionalProperties: false,
    });
    expect(toolset.member('pay')?.fixed).toEqual({ 'x-trace': 'on' });
    expect([...(toolset.member('pay')?.closed ?? [])].toSorted()).toEqual(['amount', 'x-trace', 'x_trace']);
  });

  it.each([
    ['has none of the name', PLAIN, { fixed: { nothing: 1 } }, 'has no parameter "nothing"'],
    ['does not take the value', PLAIN, { fixed: { amount: 'much' } }, 'does not take what is fixed: /amount'],
    ['needs what is hidden', PLAIN, { hidden: ['to'] }, 'has no default'],
    [
      'has them behind a $ref',
      { ...PLAIN, $ref: '#/$defs/x', $defs: { x: {} } },
      { hidden: ['amount'] },
      'behind a $ref',
    ],
    [
      'asks for it in alternatives',
      { ...PLAIN, anyOf: [{ required: ['amount'] }] },
      { hidden: ['amount'] },
      'under anyOf',
    ],
    [
      'takes any name of a pattern',
      { ...PLAIN, patternProperties: { '^a': {} } },
      { hidden: ['amount'] },
      'patternProperties',
    ],
  ])('keeps a tool out of the toolset that %s', (_what, schema, override, words) => {
    const built = build([withSchema(schema)], { overrides: { pay: override } });
    expect(built.toolset.tools.functions).toEqual([]);
    expect(built.toolset.member('pay')).toBeUndefined();
    expect(wordsOf(built)).toContain(words);
  });

  it('keeps a tool out whose other parameters providers would have to be told otherwise', () => {
    const properties = { 'a.b': { type: 'string' }, a_b: { type: 'string', default: '' } };
    const built = build([withSchema({ type: 'object', properties })], {
      overrides: { pay: { hidden: ['a_b'] } },
    });
    expect(built.toolset.tools.functions).toEqual([]);
    expect(wordsOf(built)).toContain('called otherwise by providers');
  });
});

describe('a name that is given', () => {
  it('is given to nobody where another tool of the set has it', () => {
    const built = build([functionOf({ name: 'a.one' }), functionOf({ name: 'c' })], {
      overrides: { c: { name: 'a__one' } },
    });
    expect(built.toolset.tools.functions.map(({ name }) => name)).toEqual(['a.one']);
    expect(wordsOf(built)).toContain('would be called a__one, as another tool of it is');
  });

  it('leaves the name that the tool has elsewhere to nobody', () => {
    const { toolset } = build([functionOf({ name: 'c' })], { overrides: { c: { name: 'd' } } });
    expect(toolset.member('c')).toBeUndefined();
    expect(toolset.member('d')).toMatchObject({ name: 'd', tool: 'c' });
  });
});

it.each([
  [{}, { tenantId: undefined, agentId: undefined }, true],
  [{ tenants: ['acme'] }, { tenantId: 'acme', agentId: undefined }, true],
  [{ tenants: ['acme'] }, { tenantId: 'umbrella', agentId: undefined }, false],
  [{ tenants: ['acme'] }, { tenantId: undefined, agentId: undefined }, false],
  [{ agents: ['robot'] }, { tenantId: 'acme', agentId: undefined }, false],
  [{ agents: ['robot'] }, { tenantId: 'acme', agentId: 'robot' }, true],
  [{ tenants: ['acme'], agents: ['robot'] }, { tenantId: 'umbrella', agentId: 'robot' }, false],
])('%j may be used by %j: %s', (said, who, may) => {
  expect(build([], said).toolset.mayUse(who)).toBe(may);
});
