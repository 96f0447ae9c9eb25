// Prompt: the tools as text for a system prompt, for models without function calling.
import { isJsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { noteOf } from '../schema/description-notes.ts';
import { mergeAllOf } from '../schema/merge-schemas.ts';
import { resolveLocal } from '../schema/local-refs.ts';
import { allowedValues, promptType } from './types.ts';
import { wholeDescription, type ToolFormat } from '../tool-format.ts';

const MAX_PARAMETER_DEPTH = 3;

const LIMITS = ['format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems'];

const HOW_TO_CALL = `# TOOL USAGE

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
be left out. The results come back to you before you answer.`;

export const promptTools: ToolFormat = {
  entry: (fn) => ({ text: functionBlock(fn) }),
  list: (entries) => ['# AVAILABLE TOOLS', ...entries, HOW_TO_CALL].join('\n\n') + '\n',
};

/** `name(arg: type, opt: int = 5)`, then the description and a line for each argument that has more to say. */
function functionBlock(fn: ToolFunction): string {
  const root = plainRoot(fn.inputSchema);
  const signature = parametersOf(root, root).map(({ name, schema, required }) =>
    argument(name, schema, required, root),
  );
  const lines = [...wholeDescription(fn).split('\n'), ...parameterLines(root, root, '', 0)];
  return [`${fn.name}(${signature.join(', ')})`, ...lines.map((line) => `  ${line}`.trimEnd())].join('\n');
}

interface Parameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

function argument(name: string, schema: JsonSchema, required: boolean, root: JsonSchema): string {
  const type = promptType(schema, root);
  if (schema['default'] !== undefined) return `${name}: ${type} = ${JSON.stringify(schema['default'])}`;
  return `${name}${required ? '' : '?'}: ${type}`;
}

function parameterLines(schema: JsonSchema, root: JsonSchema, prefix: string, depth: number): string[] {
  if (depth >= MAX_PARAMETER_DEPTH) return [];
  return parametersOf(schema, root).flatMap(({ name, schema: part }) => {
    const path = `${prefix}${name}`;
    const text = sayings(part);
    const own = text === '' ? [] : [`${path}: ${text}`];
    const entries = resolveLocal(part['items'], root);
    return [
      ...own,
      ...parameterLines(part, root, `${path}.`, depth + 1),
      ...(isJsonObject(entries) ? parameterLines(entries, root, `${path}[].`, depth + 1) : []),
    ];
  });
}

/** Allowed values, the description and the limits of one argument, in one line. */
function sayings(schema: JsonSchema): string {
  const { description } = schema;
  const limits = LIMITS.flatMap((keyword) => {
    const value = schema[keyword];
    return value === undefined ? [] : [noteOf(keyword, value)];
  });
  const parts = [
    allowedValues(schema),
    typeof description === 'string' ? oneLine(description) : undefined,
    limits.length === 0 ? undefined : `(${limits.join(', ')})`,
  ];
  return parts.filter((part) => part !== undefined && part !== '').join(' ');
}

function parametersOf(schema: JsonSchema, root: JsonSchema): readonly Parameter[] {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).map(([name, part]) => ({
    name,
    schema: withTarget(part, root),
    required: Array.isArray(required) && required.includes(name),
  }));
}

/** A property's own words beside a `$ref` win over those of what it refers to. */
function withTarget(part: JsonValue, root: JsonSchema): JsonSchema {
  const target = resolveLocal(part, root);
  const own = isJsonObject(part) ? part : {};
  const { $ref: _ref, ...words } = own;
  return isJsonObject(target) ? { ...target, ...words } : words;
}

function plainRoot(schema: JsonSchema): JsonSchema {
  const target = withTarget(schema, schema);
  return mergeAllOf(target) ?? target;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').trim();
}
