// Golden exports: what a caller pastes into each provider's SDK.
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../contract/json.ts';
import { functionsOf, type ToolFunction } from '../contract/tool/tool-function.ts';
import type { ToolMetadata, ToolSpec } from '../contract/tool/tool-spec.ts';
import { atOnce } from '../lib/concurrency/in-slices.ts';
import { TOOL_FORMATS, ToolLists, type FormatName } from './tool-lists.ts';

function toProviderTools(
  functions: readonly ToolFunction[],
  nameOf: (name: string) => string,
  format: FormatName,
  { strict = false }: { readonly strict?: boolean } = {},
): unknown {
  const text = atOnce(new ToolLists().write(functions, nameOf, format, strict));
  return format === 'prompt' ? text : JSON.parse(text);
}

function properties(count: number, of: (place: number) => [string, JsonSchema]) {
  return Object.fromEntries(Array.from({ length: count }, (_, place) => of(place)));
}

const metadata: ToolMetadata = {
  version: '1.0.0',
  permissions: [],
  riskLevel: 'low',
  isDangerous: false,
  requiresApproval: false,
  readOnly: true,
  idempotent: true,
  modes: ['voice', 'text'],
  tags: [],
};

function spec(over: Partial<ToolSpec> & Pick<ToolSpec, 'name' | 'description'>): ToolSpec {
  return {
    toolType: 'python',
    inputSchema: { type: 'object', properties: {} },
    implementationConfig: {},
    metadata,
    timeoutMs: 1000,
    rateLimits: [],
    extensions: {},
    baseDir: '.',
    contentHash: '0',
    ...over,
  };
}

const sumSchema = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
};

const calendar = functionsOf(
  spec({
    name: 'google_calendar',
    description: 'Calendar',
    metadata: { ...metadata, readOnly: false, idempotent: false, isDangerous: true },
    actions: [
      {
        name: 'list_events',
        description: 'Lists events.',
        returns: 'The events',
        parameters: [
          { name: 'calendar_id', type: 'string', description: 'Whose calendar', required: true },
          { name: 'max_results', type: 'integer', required: false, default: 10, minValue: 1, maxValue: 50 },
          { name: 'min_score', type: 'number', required: false },
          { name: 'single', type: 'boolean', required: false },
          { name: 'order', type: 'string', required: false, enum: ['start', 'updated'] },
          { name: 'since', type: 'datetime', required: false, description: 'Not before' },
          { name: 'ids', type: 'array', required: false },
          { name: 'filter', type: 'object', required: false },
        ],
      },
    ],
  }),
);
const sum = functionsOf(
  spec({
    name: 'calculate_sum',
    description: 'Adds two numbers.',
    inputSchema: sumSchema,
    outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
    metadata: { ...metadata, summary: 'Use it for every addition.' },
  }),
);
const functions: readonly ToolFunction[] = [...sum, ...calendar];
const nameOf = (name: string) => name.replaceAll('.', '__');

const sumDescription = 'Adds two numbers.\nUse it for every addition.';
const listDescription = 'Lists events.\nReturns: The events';
/** All seven parameter types, as an action's schema says them. */
const listSchema = {
  type: 'object',
  properties: {
    calendar_id: { type: 'string', description: 'Whose calendar' },
    max_results: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
    min_score: { type: 'number' },
    single: { type: 'boolean' },
    order: { type: 'string', enum: ['start', 'updated'] },
    since: { type: 'string', format: 'date-time', description: 'Not before' },
    ids: { type: 'array' },
    filter: { type: 'object' },
  },
  required: ['calendar_id'],
  additionalProperties: false,
};

/** OpenAI and Gemini refuse an array that does not say what it holds. */
const openListSchema = {
  ...listSchema,
  properties: { ...listSchema.properties, ids: { type: 'array', items: {} } },
};

describe('ToolLists', () => {
  it('writes tools for OpenAI Chat Completions', () => {
    expect(toProviderTools(functions, nameOf, 'openai')).toEqual([
      {
        type: 'function',
        function: { name: 'calculate_sum', description: sumDescription, parameters: sumSchema },
      },
      {
        type: 'function',
        function: {
          name: 'google_calendar__list_events',
          description: listDescription,
          parameters: openListSchema,
        },
      },
    ]);
  });

  it('marks a tool strict only where its schema can be, and says so', () => {
    expect(toProviderTools(functions, nameOf, 'openai', { strict: true })).toEqual([
      {
        type: 'function',
        function: {
          name: 'calculate_sum',
          description: sumDescription,
          parameters: { ...sumSchema, additionalProperties: false },
          strict: true,
        },
      },
      {
        type: 'function',
        function: {
          name: 'google_calendar__list_events',
          description: listDescription,
          parameters: openListSchema,
          strict: false,
        },
      },
    ]);
  });

  it('writes flat tools for the OpenAI Responses API and always says whether they are strict', () => {
    expect(toProviderTools(functions, nameOf, 'openai-responses')).toEqual([
      {
        type: 'function',
        name: 'calculate_sum',
        description: sumDescription,
        parameters: sumSchema,
        strict: false,
      },
      {
        type: 'function',
        name: 'google_calendar__list_events',
        description: listDescription,
        parameters: openListSchema,
        strict: false,
      },
    ]);
  });

  it('writes tools for Anthropic', () => {
    expect(toProviderTools(functions, nameOf, 'anthropic')).toEqual([
      { name: 'calculate_sum', description: sumDescription, input_schema: sumSchema },
      { name: 'google_calendar__list_events', description: listDescription, input_schema: listSchema },
    ]);
  });

  it('writes one Gemini tool and tells the model what Gemini schemas cannot say', () => {
    expect(toProviderTools(functions, nameOf, 'gemini')).toEqual([
      {
        functionDeclarations: [
          { name: 'calculate_sum', description: sumDescription, parametersJsonSchema: sumSchema },
          {
            name: 'google_calendar__list_events',
            description: listDescription,
            parametersJsonSchema: {
              ...openListSchema,
              properties: {
                ...openListSchema.properties,
                max_results: { type: 'integer', minimum: 1, maximum: 50, description: '(default: 10)' },
              },
            },
          },
        ],
      },
    ]);
  });

  it('writes an MCP tools list with names as they are, output schemas and annotations', () => {
    expect(toProviderTools(functions, nameOf, 'mcp')).toEqual({
      tools: [
        {
          name: 'calculate_sum',
          description: sumDescription,
          inputSchema: sumSchema,
          outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
          annotations: {
            readOnlyHint: true,
            destructiveHint: false,
            idempotentHint: true,
            openWorldHint: true,
          },
        },
        {
          name: 'google_calendar.list_events',
          description: listDescription,
          inputSchema: listSchema,
          annotations: {
            readOnlyHint: false,
            destructiveHint: true,
            idempotentHint: false,
            openWorldHint: true,
          },
        },
      ],
    });
  });

  it('leaves an MCP output schema out that is not an object: old clients would refuse the whole list', () => {
    const [fn] = functionsOf(
      spec({ name: 'now', description: 'The time.', outputSchema: { type: 'string', format: 'date-time' } }),
    );
    expect(JSON.stringify(toProviderTools(fn ? [fn] : [], nameOf, 'mcp'))).not.toContain('outputSchema');
  });

  it('writes a prompt with signatures, descriptions, parameters, and how to call', () => {
    expect(toProviderTools(functions, nameOf, 'prompt')).toBe(`# AVAILABLE TOOLS

calculate_sum(a: float, b: float)
  Adds two numbers.
  Use it for every addition.

google_calendar.list_events(calendar_id: str, max_results: int = 10, min_score?: float, single?: bool, order?: str, since?: str, ids?: list, filter?: dict)
  Lists events.
  Returns: The events
  calendar_id: Whose calendar
  max_results: (minimum: 1, maximum: 50)
  order: "start" | "updated"
  since: Not before (format: "date-time")

# TOOL USAGE

When you need to use a tool, output:

\`\`\`json
{
    "tool": "tool_name",
    "args": {
        "param": "value"
    }
}
\`\`\`

To use several tools, output several such blocks. Arguments marked with "?" and those with a value after "=" may
be left out. The results come back to you before you answer.
`);
  });

  it('writes nested arguments into the prompt as types and paths', () => {
    const fns = functionsOf(
      spec({
        name: 'order',
        description: 'Orders.',
        inputSchema: {
          type: 'object',
          properties: {
            address: { $ref: '#/$defs/Address', description: 'Where to' },
            lines: {
              type: 'array',
              items: {
                type: 'object',
                properties: {
                  sku: { type: 'string', description: 'Article' },
                  note: { type: ['string', 'null'] },
                },
                required: ['sku'],
              },
            },
          },
          required: ['address'],
          $defs: {
            Address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          },
        },
      }),
    );
    expect(toProviderTools(fns, nameOf, 'prompt')).toContain(`
order(address: {city: str}, lines?: list[{sku: str, note?: str | null}])
  Orders.
  address: Where to
  lines[].sku: Article
`);
  });

  it('ends with schemas that refer to themselves', () => {
    const fns = functionsOf(
      spec({
        name: 'tree',
        description: 'Plants.',
        inputSchema: {
          type: 'object',
          properties: { node: { $ref: '#/$defs/Node' }, either: { $ref: '#/$defs/Either' } },
          $defs: {
            Node: { type: 'object', properties: { child: { $ref: '#/$defs/Node' } } },
            Either: { anyOf: [{ $ref: '#/$defs/Either' }, { type: 'string' }] },
          },
        },
      }),
    );
    expect(toProviderTools(fns, nameOf, 'prompt')).toContain(
      'tree(node?: {child?: {child?: {child?: dict}}}, either?: any | str)',
    );
    expect(toProviderTools(fns, nameOf, 'openai', { strict: true })).toMatchObject([
      { function: { strict: true } },
    ]);
  });

  it.each<[string, JsonSchema]>([
    [
      'that refers to itself from many properties',
      {
        type: 'object',
        properties: { x: { $ref: '#/$defs/a' } },
        $defs: {
          a: { type: 'object', properties: properties(400, (at) => [`p${at}`, { $ref: '#/$defs/a' }]) },
        },
      },
    ],
    [
      'that refers to itself from many alternatives',
      {
        type: 'object',
        properties: { x: { $ref: '#/$defs/a' } },
        $defs: {
          a: { anyOf: Array.from({ length: 300 }, () => ({ type: 'array', items: { $ref: '#/$defs/a' } })) },
        },
      },
    ],
    [
      'that refers to a large part over and over',
      {
        type: 'object',
        properties: properties(800, (at) => [`p${at}`, { $ref: '#/$defs/a' }]),
        $defs: { a: { type: 'string', description: 'd'.repeat(9_000), default: 'e'.repeat(20_000) } },
      },
    ],
  ])('a schema %s is written into the prompt in time and in bounds', (_what, inputSchema) => {
    const functions = functionsOf(spec({ name: 'endless', description: 'x', inputSchema }));
    const text = String(toProviderTools(functions, (name) => name, 'prompt'));
    expect(text.length).toBeLessThan(400_000);
  });

  it('knows its own formats', () => {
    expect(TOOL_FORMATS).toEqual([
      'openai',
      'openai-responses',
      'anthropic',
      'gemini',
      'bedrock',
      'mistral',
      'mcp',
      'prompt',
    ]);
  });
});
