// {"tool": …, "args": {…}}: the form that the prompt asks a model for, and what models write in its place, which no provider's API has.
import type { JsonObject } from '../../contract/json.ts';
import { partOf, type ProviderCall } from '../provider-call.ts';

/** The first is the one that the prompt shows. */
const ARGUMENTS = ['args', 'arguments', 'parameters', 'input'];
/** What LangChain's agents end with, in the form of a call. */
const FINAL_ANSWER = /^final[ _]answer$/i;

/** Undefined: it is none. */
export function ownCall(said: JsonObject): ProviderCall | undefined {
  const name = nameOf(said);
  if (name === undefined) return undefined;
  const args = name === 'action' ? 'action_input' : (ARGUMENTS.find((member) => member in said) ?? 'args');
  return {
    name: partOf(said, name),
    arguments: partOf(said, args),
    id: partOf(said, 'id'),
  };
}

/** The member that names the tool: Cohere has `tool_name`, LangChain's agents `action`, Llama `name`, which with a description defines a tool. */
function nameOf(said: JsonObject): string | undefined {
  if ('tool' in said) return 'tool';
  if ('tool_name' in said) return 'tool_name';
  if ('name' in said && 'parameters' in said && !('description' in said)) return 'name';
  const { action } = said;
  return typeof action === 'string' && 'action_input' in said && !FINAL_ANSWER.test(action)
    ? 'action'
    : undefined;
}

/** Whether an object that broke off was to be a call, by the names of its members that were read. */
export function looksLikeCall(names: readonly string[]): boolean {
  if (names.includes('tool') || names.includes('tool_name') || names.includes('functionCall')) return true;
  if (names.includes('action') && names.includes('action_input')) return true;
  const isNamed = names.includes('name') || names.includes('function');
  return isNamed && !names.includes('description') && ARGUMENTS.some((member) => names.includes(member));
}
