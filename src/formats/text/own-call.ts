// {"tool": …, "args": {…}}: the form that the prompt asks a model for, and what models write in its place.
import type { JsonObject } from '../../contract/json.ts';
import { partOf, type ProviderCall } from '../provider-call.ts';

/** The first is the one that the prompt shows. */
const ARGUMENTS = ['args', 'arguments', 'parameters', 'input'];

/** Undefined: it is none. `{"name": …, "parameters": {…}}` is Llama's; with a description it is a tool's definition. */
export function ownCall(said: JsonObject): ProviderCall | undefined {
  const isOwn = 'tool' in said;
  const isLlamas = 'name' in said && 'parameters' in said && !('description' in said);
  if (!isOwn && !isLlamas) return undefined;
  const args = ARGUMENTS.find((member) => member in said) ?? 'args';
  return {
    name: partOf(said, isOwn ? 'tool' : 'name'),
    arguments: partOf(said, args),
    id: partOf(said, 'id'),
  };
}

/** Whether an object that broke off was to be a call, by the names of its members that were read. */
export function looksLikeCall(names: readonly string[]): boolean {
  if (names.includes('tool') || names.includes('functionCall')) return true;
  const isNamed = names.includes('name') || names.includes('function');
  return isNamed && !names.includes('description') && ARGUMENTS.some((member) => names.includes(member));
}
