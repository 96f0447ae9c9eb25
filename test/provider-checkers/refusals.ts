// What providers would refuse of tools, as each is shown them: the checkers of all formats, over lists that the gateway writes.
import type { JsonObject } from '../../src/contract/json.ts';
import type { ToolFunction } from '../../src/contract/tool/tool-function.ts';
import { ToolLists, type FormatName } from '../../src/formats/tool-lists.ts';
import { atOnce } from '../../src/lib/concurrency/in-slices.ts';
import { assignProviderNames } from '../../src/lib/text/provider-names.ts';
import { refusalsOfAnthropic, refusalsOfAnthropicRequest } from './anthropic.ts';
import { refusalsOfBedrock } from './bedrock.ts';
import { refusalsOfGemini } from './gemini.ts';
import { refusalsOfMcp } from './mcp.ts';
import { refusalsOfOpenAi, type FunctionDefinition } from './openai.ts';

interface Listed {
  readonly name?: unknown;
  readonly description?: unknown;
  readonly function: FunctionDefinition;
  readonly functionDeclarations: readonly Listed[];
}

function listOf(functions: readonly ToolFunction[], format: FormatName, strict: boolean): unknown {
  const names = assignProviderNames(functions.map(({ name }) => name));
  const lists = new ToolLists();
  return JSON.parse(atOnce(lists.write(functions, (name) => names.get(name) ?? name, format, strict)));
}

const entriesOf = (...args: Parameters<typeof listOf>) => listOf(...args) as readonly Listed[];

/** By format; of each tool, or of the request they are sent in. */
const CHECKERS: Readonly<
  Record<string, (functions: readonly ToolFunction[], strict: boolean) => readonly (readonly string[])[]>
> = {
  openai: (functions, strict) =>
    entriesOf(functions, 'openai', strict).map((tool) => refusalsOfOpenAi(tool.function)),
  'openai-responses': (functions, strict) =>
    entriesOf(functions, 'openai-responses', strict).map(refusalsOfOpenAi),
  mistral: (functions, strict) =>
    entriesOf(functions, 'mistral', strict).map((tool) =>
      refusalsOfOpenAi({ ...tool.function, description: 'Mistral has no limit.' }),
    ),
  // Each alone, so that as many as can be are strict; then all of them in one request.
  anthropic: (functions, strict) => [
    ...functions.flatMap((fn) => entriesOf([fn], 'anthropic', strict).map(refusalsOfAnthropic)),
    refusalsOfAnthropicRequest(entriesOf(functions, 'anthropic', strict)),
  ],
  gemini: (functions, strict) =>
    (entriesOf(functions, 'gemini', strict)[0]?.functionDeclarations ?? []).map(refusalsOfGemini),
  bedrock: (functions, strict) =>
    (listOf(functions, 'bedrock', strict) as { tools: JsonObject[] }).tools.map(refusalsOfBedrock),
  mcp: (functions, strict) => [refusalsOfMcp(listOf(functions, 'mcp', strict))],
};

export const CHECKED_FORMATS: readonly string[] = Object.keys(CHECKERS);

/** Each with the name of its tool. */
export function refusalsAs(
  format: string,
  functions: readonly ToolFunction[],
  strict: boolean,
): readonly string[] {
  return (CHECKERS[format]?.(functions, strict) ?? []).flatMap((refusals, at) =>
    refusals.map((refusal) => `${functions[at]?.name}: ${refusal}`),
  );
}

/** Of every format, strict and not. */
export function allRefusals(functions: readonly ToolFunction[]): readonly string[] {
  return CHECKED_FORMATS.flatMap((format) =>
    [false, true].flatMap((strict) =>
      refusalsAs(format, functions, strict).map((refusal) => `${format}, strict ${strict}: ${refusal}`),
    ),
  );
}
