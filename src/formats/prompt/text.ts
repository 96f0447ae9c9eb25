// Prompt: the tools as text for a system prompt, for models without function calling.
import { isJsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { noteOf } from '../schema/description-notes.ts';
import { mergeAllOf } from '../schema/merge-schemas.ts';
import { resolveLocal } from '../schema/local-refs.ts';
import { LEFT_OUT, PromptRoom } from './prompt-room.ts';
import { allowedValues, promptType, type Around } from './types.ts';
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
  const around = { root, room: new PromptRoom() };
  const signature = [...parametersOf(root, root)].map((each) => argument(each, around));
  const lines = wholeDescription(fn).split('\n');
  if (!sayParameters(root, { root, room: new PromptRoom(), lines }, '', 0)) lines.push(LEFT_OUT);
  return [`${fn.name}(${signature.join(', ')})`, ...lines.map((line) => `  ${line}`.trimEnd())].join('\n');
}

interface Parameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

function argument({ name, schema, required }: Parameter, around: Around): string {
  const type = promptType(schema, around);
  const usual =
    schema['default'] === undefined || around.room.isFull ? '' : JSON.stringify(schema['default']);
  if (usual !== '' && around.room.take(usual)) return `${name}: ${type} = ${usual}`;
  return `${name}${required ? '' : '?'}: ${type}`;
}

interface Said extends Around {
  readonly lines: string[];
}

/** False: there was not room for all of them. */
function sayParameters(schema: JsonSchema, said: Said, prefix: string, depth: number): boolean {
  if (depth >= MAX_PARAMETER_DEPTH) return true;
  const { root, room, lines } = said;
  for (const { name, schema: part } of parametersOf(schema, root)) {
    const path = `${prefix}${name}`;
    const text = sayings(part);
    if (!room.take(`${path}: ${text}`)) return false;
    if (text !== '') lines.push(`${path}: ${text}`);
    if (!sayParameters(part, said, `${path}.`, depth + 1)) return false;
    const entries = resolveLocal(part['items'], root);
    if (isJsonObject(entries) && !sayParameters(entries, said, `${path}[].`, depth + 1)) return false;
  }
  return true;
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

function* parametersOf(schema: JsonSchema, root: JsonSchema): Generator<Parameter> {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return;
  for (const [name, part] of Object.entries(properties))
    yield {
      name,
      schema: withTarget(part, root),
      required: Array.isArray(required) && required.includes(name),
    };
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
