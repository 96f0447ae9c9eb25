// Whether a provider would take the tools of a request: the checkers that the gateway's own lists are held to.
import type { JsonObject } from '../../../src/contract/json.ts';
import { refusalsOfAnthropic, refusalsOfAnthropicRequest } from '../../provider-checkers/anthropic.ts';
import { refusalsOfBedrock } from '../../provider-checkers/bedrock.ts';
import { refusalsOfGemini } from '../../provider-checkers/gemini.ts';
import { refusalsOfOpenAi, type FunctionDefinition } from '../../provider-checkers/openai.ts';
import { listOf } from './script.ts';

type Tools = readonly { readonly function: FunctionDefinition }[];

/** `path`: of the request. */
export function refusalsOfList(path: string, tools: unknown): readonly string[] {
  if (path.startsWith('/bedrock/')) {
    const { tools: list } = tools as { readonly tools: unknown };
    return (all(list) as readonly JsonObject[]).flatMap(refusalsOfBedrock);
  }
  if (path.startsWith('/gemini/')) {
    const declared = all(tools) as readonly { readonly functionDeclarations: readonly JsonObject[] }[];
    return declared
      .flatMap(({ functionDeclarations: list }) => all(list) as never[])
      .flatMap(refusalsOfGemini);
  }
  if (path.startsWith('/anthropic/')) {
    const list = all(tools) as Parameters<typeof refusalsOfAnthropicRequest>[0];
    return [...list.flatMap(refusalsOfAnthropic), ...refusalsOfAnthropicRequest(list)];
  }
  if (path.endsWith('/responses'))
    return (all(tools) as readonly FunctionDefinition[]).flatMap(refusalsOfOpenAi);
  return (all(tools) as Tools).flatMap(({ function: fn }) => refusalsOfOpenAi(fn));
}

function all(tools: unknown): readonly unknown[] {
  const list = listOf(tools, 'tools');
  if (list.length === 0) throw new Error('no tools were sent');
  return list;
}
