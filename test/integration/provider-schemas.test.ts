// The tools as every provider takes them: checkers that know nothing of the converter refuse nothing of GitHub's document, of
// real MCP servers, and of a list of nasty schemas; and what a model says comes back under the names that the tool declares.
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';
import { functionsOf, type ToolFunction } from '../../src/contract/tool/tool-function.ts';
import { ANTHROPIC_RULES } from '../../src/formats/anthropic/rules.ts';
import { GEMINI_RULES } from '../../src/formats/gemini/rules.ts';
import { OPENAI_RULES } from '../../src/formats/openai/rules.ts';
import { toProviderSchema } from '../../src/formats/schema/provider-schema.ts';
import { lintSchema } from '../../src/lib/json-schema/lint/schema-linter.ts';
import { ownNamesOf, propertySpellings } from '../../src/lib/json-schema/property-names.ts';
import { dropStandInNulls } from '../../src/lib/json-schema/stand-in-nulls.ts';
import { createValidator } from '../../src/lib/json-schema/validator.ts';
import { assignProviderNames } from '../../src/lib/text/provider-names.ts';
import { specOf } from '../helpers/call-kit.ts';
import { EVERYTHING, FILESYSTEM, FIXTURES, McpBench, nodeServer } from '../helpers/mcp-kit.ts';
import { OpenApiBench } from '../helpers/openapi-kit.ts';
import { NASTY_SCHEMAS } from '../provider-checkers/nasty-schemas.ts';
import { CHECKED_FORMATS, refusalsAs } from '../provider-checkers/refusals.ts';

const GITHUB = resolve(
  import.meta.dirname,
  '../../node_modules/@octokit/openapi/generated/api.github.com.json',
);
const LONG = `${'This tool does so much that it takes many words to say. '.repeat(100)}End.`;

let sources: ReadonlyMap<string, readonly ToolFunction[]>;

beforeAll(async () => {
  const github = new OpenApiBench();
  const loaded = await github
    .loader({ document: GITHUB, prefix: 'github_' })
    .load(new AbortController().signal);
  const ofGitHub = github.checked(loaded).tools.flatMap(({ spec }) => functionsOf(spec));
  await github.close();
  sources = new Map([
    ['GitHub', ofGitHub],
    ['MCP servers', await ofServers()],
    ['nasty schemas', NASTY_SCHEMAS.flatMap(({ schema }, at) => functionOf(`nasty.${at}`, LONG, schema))],
  ]);
});

function functionOf(name: string, description: string, inputSchema: JsonObject): readonly ToolFunction[] {
  return functionsOf(specOf({ name, description, inputSchema }));
}

async function ofServers(): Promise<readonly ToolFunction[]> {
  const bench = new McpBench();
  const programs = [
    nodeServer(EVERYTHING, ['stdio']),
    nodeServer(FILESYSTEM, [FIXTURES], { readable: [join(FIXTURES, '../../../node_modules'), FIXTURES] }),
  ];
  const functions: ToolFunction[] = [];
  for (const [at, program] of programs.entries()) {
    const { tools } = await bench.open(program).listTools(AbortSignal.timeout(30_000));
    for (const { name, description = name, inputSchema } of tools)
      functions.push(...functionOf(`server${at}.${name}`, description, inputSchema));
  }
  await bench.close();
  return functions;
}

describe.each(['GitHub', 'MCP servers', 'nasty schemas'])('the tools of %s', (source) => {
  it.each(CHECKED_FORMATS.flatMap((format) => [false, true].map((strict) => [format, strict] as const)))(
    'are refused nowhere as %s takes them (strict: %s)',
    (format, strict) => {
      const functions = sources.get(source) ?? [];
      expect(functions.length).toBeGreaterThan(15);
      expect(refusalsAs(format, functions, strict).slice(0, 20)).toEqual([]);
    },
  );

  it('have the names of their tools and properties back, whichever spelling a provider was shown', () => {
    const functions = sources.get(source) ?? [];
    const names = assignProviderNames(functions.map(({ name }) => name));
    expect(new Set(names.values()).size).toBe(functions.length);
    for (const { inputSchema } of functions) {
      const spellings = propertySpellings(inputSchema);
      const declared = Object.keys((inputSchema['properties'] as JsonObject | undefined) ?? {});
      const said = Object.fromEntries(declared.map((name, at) => [spellings.get(name) ?? name, at]));
      const back = ownNamesOf(inputSchema)?.(said).args ?? said;
      expect(back).toEqual(Object.fromEntries(declared.map((name, at) => [name, at])));
    }
  });
});

describe('a list of nasty schemas', () => {
  it('is of sixty and more, all of which the gateway takes', () => {
    expect(NASTY_SCHEMAS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(NASTY_SCHEMAS.map(({ what }) => what)).size).toBe(NASTY_SCHEMAS.length);
    expect(NASTY_SCHEMAS.flatMap(({ schema }) => lintSchema(schema))).toEqual([]);
  });

  it('is strict wherever it can be: as many of them as were, or more', () => {
    const strictFor = (rules: typeof OPENAI_RULES) =>
      NASTY_SCHEMAS.filter(({ schema }) => toProviderSchema(schema, rules, true).strict).length;
    expect(strictFor(OPENAI_RULES)).toBeGreaterThan(35);
    expect(strictFor(ANTHROPIC_RULES)).toBeGreaterThan(30);
  });

  it.each(NASTY_SCHEMAS)('gives back exactly what was said: $what', ({ schema, args }) => {
    expect(createValidator(schema).validate(structuredClone(args))).toEqual([]);
    for (const rules of [ANTHROPIC_RULES, GEMINI_RULES, OPENAI_RULES]) {
      const said = asShown(args, schema, rules.propertyName);
      const converted = toProviderSchema(schema, rules);
      expect(createValidator(converted.schema).validate(structuredClone(said))).toEqual([]);
      expect(ownNamesOf(schema)?.(said as JsonObject).args ?? said).toEqual(args);
    }
    // A caller who knows the tool itself uses its own names.
    expect(ownNamesOf(schema)?.(args).args ?? args).toEqual(args);
  });

  const strictly = NASTY_SCHEMAS.flatMap(({ said, ...nasty }) =>
    said === undefined ? [] : [{ ...nasty, said }],
  );
  it.each(strictly)('takes null for what strict mode cannot leave out: $what', ({ schema, args, said }) => {
    const converted = toProviderSchema(schema, OPENAI_RULES, true);
    expect(converted.strict).toBe(true);
    expect(createValidator(converted.schema).validate(structuredClone(said))).toEqual([]);
    expect(dropStandInNulls(said, schema)).toEqual(args);
  });
});

/** Keys of a map are the caller's own, and stay as they are. */
function asShown(value: JsonValue, schema: JsonObject, accepted: RegExp | undefined): JsonValue {
  const spellings = propertySpellings(schema);
  const rename = (part: JsonValue): JsonValue => {
    if (Array.isArray(part)) return part.map(rename);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(
      Object.entries(part).map(([name, inner]) => {
        const isShownOther = accepted?.test(name) === false;
        return [isShownOther ? (spellings.get(name) ?? name) : name, rename(inner)];
      }),
    );
  };
  return rename(value);
}
