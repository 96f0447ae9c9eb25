// What a toolset with `listing: search` lists: three tools, by which an agent finds the others, reads about them and calls them. The first two
// are tools like any other, behind the whole pipeline; the third stands for the tool that it calls.
import { hash } from 'node:crypto';
import type { PreparedFunction } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { JsonObject, JsonSchema } from '../../contract/json.ts';
import type { CompiledTool, ToolCompiler } from '../../contract/tool/compiled-tool.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import { servesMode, type ToolSpec } from '../../contract/tool/tool-spec.ts';
import {
  CALL_TOOL,
  DESCRIBE_TOOLS,
  SEARCH_TOOLS,
  SEARCH_TYPE,
  type Toolset,
} from '../../contract/tool/toolset.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import {
  LONGEST_QUERY,
  MOST_FOUND,
  USUALLY_FOUND,
  type ToolSearch,
} from '../../ports/registry/tool-search.ts';
import type { SearchTools } from './build-toolset.ts';

export interface ListingDeps {
  readonly catalog: Pick<ToolCatalog, 'isDisabled'>;
  readonly compiler: Pick<ToolCompiler, 'compile'>;
  readonly search: ToolSearch;
  /** Whether an agent is offered a function. */
  readonly isOffered: (
    whose: { readonly tenantId: string; readonly agentId: string },
    fn: ToolFunction,
  ) => boolean;
}

const MOST_DESCRIBED = 10;
/** Of what is told of a tool that was found. */
const LONGEST_LINE = 300;

export function searchListing(toolset: Toolset, deps: ListingDeps): SearchTools {
  const about = toolset.description === undefined ? '' : ` ${toolset.description}`;
  const count = toolset.tools.functions.length;
  const functions = [
    functionOf(
      CALL_TOOL,
      `Calls one of the tools that ${SEARCH_TOOLS} finds. Read its input_schema with ${DESCRIBE_TOOLS} first.`,
      CALL_SCHEMA,
      { readOnly: false },
    ),
    functionOf(
      DESCRIBE_TOOLS,
      `Tells what tools do and which arguments they take: description, input_schema, documentation.`,
      DESCRIBE_SCHEMA,
    ),
    functionOf(
      SEARCH_TOOLS,
      `Finds tools, among ${count}, by what you want to do, in plain words. The best comes first.${about}`,
      SEARCH_SCHEMA,
    ),
  ];
  const runs: Record<string, PreparedFunction> = {
    [SEARCH_TOOLS]: {
      yieldsPlainJson: true,
      execute: async (call) => ({ data: await found(call, toolset, deps) }),
    },
    [DESCRIBE_TOOLS]: {
      yieldsPlainJson: true,
      execute: async (call) => ({ data: described(call, toolset, deps) }),
    },
  };
  const compiled = new Map<string, CompiledTool>();
  for (const fn of functions) {
    const prepared = runs[fn.name];
    if (prepared !== undefined) compiled.set(fn.name, deps.compiler.compile(fn, prepared));
  }
  return { listed: setOf(functions, toolset.tools), find: (name) => compiled.get(name) };
}

async function found(call: ToolCall, { tools }: Toolset, deps: ListingDeps): Promise<JsonObject> {
  const { query, limit = USUALLY_FOUND } = call.arguments;
  const functions = await deps.search.search({
    set: tools,
    query: typeof query === 'string' ? query : '',
    limit: typeof limit === 'number' ? limit : USUALLY_FOUND,
    may: mayCall(call, tools, deps),
  });
  return { tools: functions.map((fn) => ({ name: fn.name, description: lineOf(fn) })) };
}

function described(call: ToolCall, { tools }: Toolset, deps: ListingDeps): JsonObject {
  const { names } = call.arguments;
  const may = mayCall(call, tools, deps);
  const asked = Array.isArray(names) ? names.map(String) : [];
  const known = asked.map((name) => {
    const fn = tools.find(name)?.function;
    return fn === undefined || !may(fn)
      ? { name, error: 'There is no tool of this name here.' }
      : descriptionOf(fn);
  });
  return { tools: known };
}

function descriptionOf(fn: ToolFunction): JsonObject {
  const { documentation } = fn.spec.metadata;
  return {
    name: fn.name,
    description: fn.description,
    input_schema: fn.inputSchema,
    ...(fn.outputSchema !== undefined && { output_schema: fn.outputSchema }),
    ...(documentation !== undefined && { documentation }),
  };
}

/** What a list would hold for this caller, agent and mode; and for nobody what is switched off. */
function mayCall(
  { principal, context: { agentId, mode } }: ToolCall,
  tools: ToolSet,
  { catalog, isOffered }: ListingDeps,
): (fn: ToolFunction) => boolean {
  return (fn) => {
    const isShownTo = tools.find(fn.name)?.isShownTo;
    return (
      principal !== undefined &&
      (isShownTo === undefined || isShownTo({ principal })) &&
      !catalog.isDisabled(fn.spec.name) &&
      fn.spec.foreign?.quarantine === undefined &&
      (mode === undefined || servesMode(fn.spec.metadata, mode)) &&
      (agentId === undefined || isOffered({ tenantId: principal.tenantId, agentId }, fn))
    );
  };
}

function lineOf({ description, spec }: ToolFunction): string {
  const { summary = description } = spec.metadata;
  const line = summary.replaceAll(/\s+/g, ' ').trim();
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE - 1).toWellFormed()}…`;
}

const SEARCH_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      minLength: 1,
      maxLength: LONGEST_QUERY,
      description: 'What you want to do, such as "add a label to an issue".',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MOST_FOUND,
      default: USUALLY_FOUND,
      description: 'How many tools to find.',
    },
  },
  required: ['query'],
  additionalProperties: false,
};

const DESCRIBE_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    names: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      maxItems: MOST_DESCRIBED,
      description: `Names of tools, as ${SEARCH_TOOLS} gives them.`,
    },
  },
  required: ['names'],
  additionalProperties: false,
};

const CALL_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'The name of the tool.' },
    arguments: { type: 'object', description: 'Its arguments, by its input_schema.' },
  },
  required: ['name', 'arguments'],
  additionalProperties: false,
};

function functionOf(
  name: string,
  description: string,
  inputSchema: JsonSchema,
  { readOnly = true }: { readonly readOnly?: boolean } = {},
): ToolFunction {
  const content = { name, description, toolType: SEARCH_TYPE, inputSchema };
  const spec: ToolSpec = {
    ...content,
    implementationConfig: {},
    metadata: {
      version: '1.0.0',
      category: readOnly ? 'retrieval' : 'action',
      // As lists do.
      permissions: readOnly ? ['tools:read'] : [],
      riskLevel: 'low',
      isDangerous: false,
      requiresApproval: false,
      readOnly,
      idempotent: readOnly,
      modes: ['voice', 'text', 'live_call'],
      tags: [],
    },
    timeoutMs: 30_000,
    rateLimits: [],
    extensions: {},
    baseDir: '/',
    contentHash: hash('sha256', JSON.stringify(content)),
  };
  return { name, description, inputSchema, spec, configDefaults: {} };
}

function setOf(functions: readonly ToolFunction[], { version, contentHash }: ToolSet): ToolSet {
  const byName = new Map(functions.map((fn) => [fn.name, { function: fn }]));
  return {
    version,
    contentHash,
    specs: functions.map(({ spec }) => spec),
    functions,
    find: (name) => byName.get(name),
    providerName: (name) => name,
  };
}
