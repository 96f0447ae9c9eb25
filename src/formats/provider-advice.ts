// Provider advice: what model providers refuse of a function as it is declared, and what they are shown instead.
import { isJsonObject } from '../contract/json.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import { schemaGraph, type SchemaNode } from '../lib/json-schema/lint/schema-graph.ts';
import { propertySpellings } from '../lib/json-schema/property-names.ts';
import { ANTHROPIC_RULES } from './anthropic/rules.ts';
import { BEDROCK_RULES } from './bedrock/rules.ts';
import { GEMINI_RULES } from './gemini/rules.ts';
import { MCP_RULES } from './mcp/rules.ts';
import { MISTRAL_RULES } from './mistral/rules.ts';
import { OPENAI_RULES } from './openai/rules.ts';
import type { ProviderRules, SchemaRules } from './provider-rules.ts';
import { cycles } from './schema/definitions.ts';
import { plainSchema } from './schema/plain-schema.ts';
import { undeclared } from './schema/rewrite-node.ts';
import { wholeDescription } from './tool-format.ts';

export interface Advice {
  /** `description`, or from the input schema to what is refused. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

const ALL: readonly ProviderRules[] = [
  OPENAI_RULES,
  ANTHROPIC_RULES,
  GEMINI_RULES,
  BEDROCK_RULES,
  MISTRAL_RULES,
  MCP_RULES,
];
/** Of one function: what is said of the first holds of those that follow. */
const MOST = 10;
const NO_LIMITS = { depth: Infinity, nesting: Infinity, nodes: Infinity };

/** Empty: every provider takes it as it is. The schema must have passed lintSchema. */
export function providerAdvice(fn: ToolFunction): readonly Advice[] {
  const spellings = propertySpellings(fn.inputSchema);
  const { nodes } = schemaGraph(fn.inputSchema, NO_LIMITS);
  const found = [
    ...ofDescription(fn),
    ...ofRoot(fn),
    ...nodes.flatMap((node) => [...ofNames(node, spellings), ...ofNode(node)]),
  ];
  return found.slice(0, MOST);
}

function ofDescription(fn: ToolFunction): readonly Advice[] {
  const { length } = wholeDescription(fn);
  const most = OPENAI_RULES.descriptionLength ?? Infinity;
  if (length <= most) return [];
  const what = `a description of more than ${most} characters, found ${length} with the summary`;
  return [
    said(
      ['description'],
      [OPENAI_RULES.title],
      what,
      'it is cut, and whole in the documentation of the tool',
    ),
  ];
}

function ofRoot({ inputSchema }: ToolFunction): readonly Advice[] {
  const advice: Advice[] = [];
  for (const keyword of ['anyOf', 'oneOf'])
    if (keyword in inputSchema)
      advice.push(
        said(
          [keyword],
          [OPENAI_RULES.title, ANTHROPIC_RULES.title],
          'alternatives at the root',
          'they are folded into one object, and each argument that not all of them require is optional',
        ),
      );
  if (!JSON.stringify(inputSchema).includes('"$ref"') || cycles(plainSchema(inputSchema)).size === 0)
    return advice;
  const strict = ALL.filter((rules) => rules.strict?.takesCycles === false).map(({ title }) => title);
  advice.push(
    said([], strict, 'a schema that leads back to itself, in strict mode', 'the tool is not strict there'),
  );
  return advice;
}

function ofNames({ schema, path }: SchemaNode, spellings: ReadonlyMap<string, string>): readonly Advice[] {
  const { properties } = schema;
  if (spellings.size === 0 || !isJsonObject(properties)) return [];
  return Object.keys(properties).flatMap((name) => {
    const by = ALL.filter(({ propertyName }) => propertyName?.test(name) === false).map(({ title }) => title);
    if (by.length === 0) return [];
    const instead = `it is called ${spellings.get(name) ?? name} there, and calls may use either`;
    return [
      said(
        [...path, 'properties', name],
        by,
        `a property called ${JSON.stringify(name.slice(0, 80))}`,
        instead,
      ),
    ];
  });
}

function ofNode({ schema, path }: SchemaNode): readonly Advice[] {
  const advice: Advice[] = [];
  const { type, items, properties, enum: values } = schema;
  const say = (
    rule: keyof SchemaRules,
    steps: readonly (string | number)[],
    what: string,
    instead: string,
  ) => {
    const by = ALL.filter((rules) => rules.schema[rule] === true).map(({ title }) => title);
    advice.push(said([...path, ...steps], by, what, instead));
  };
  if ([type].flat().includes('array') && items === undefined)
    say('needsItems', [], 'an array without items', 'its items are anything: say what they are');
  for (const [name, part] of Object.entries(isJsonObject(properties) ? properties : {}))
    if (typeof part === 'boolean')
      say(
        'needsObjects',
        ['properties', name],
        `a property that is ${part}`,
        part ? 'it is {}' : 'it is {"not": {}}',
      );
  if (Array.isArray(values) && !values.every((value) => typeof value === 'string' || value === null))
    say('listsTextsOnly', ['enum'], 'an enum of anything but texts', 'its values stand in the description');
  const missing = undeclared(schema as Parameters<typeof undeclared>[0]);
  if (missing.length > 0)
    say(
      'requiresDeclared',
      ['required'],
      `required names that properties does not declare: ${missing.map(String).join(', ').slice(0, 200)}`,
      'they stand in the description',
    );
  return advice;
}

function said(path: Advice['path'], by: readonly string[], what: string, instead: string): Advice {
  const last = by.at(-1) ?? '';
  const who = by.length > 1 ? `${by.slice(0, -1).join(', ')} and ${last} refuse` : `${last} refuses`;
  return { path, message: `${who} this: ${what}; ${instead}` };
}
