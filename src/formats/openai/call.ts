// A call as OpenAI's models ask for it: an entry of Chat Completions' tool_calls (Mistral's are alike), its function_call of
// old, an item of the Responses API, or no more than `{name, arguments}`. Their arguments are JSON text.
import { isJsonObject } from '../../contract/json.ts';
import { partOf, type ProviderCallReader } from '../provider-call.ts';

export const openAiCall: ProviderCallReader = (said) => {
  const { function: fn, function_call: old, type } = said;
  if (isJsonObject(fn))
    return {
      name: partOf(fn, 'name', '/function'),
      arguments: partOf(fn, 'arguments', '/function'),
      id: partOf(said, 'id'),
    };
  if (isJsonObject(old) && 'arguments' in old)
    return {
      name: partOf(old, 'name', '/function_call'),
      arguments: partOf(old, 'arguments', '/function_call'),
      id: partOf(said, 'id'),
    };
  const isItem = type === 'function_call';
  if (!isItem && !('name' in said && 'arguments' in said)) return undefined;
  // An item has an id of its own as well: the answer names the other one.
  const id = partOf(said, isItem || 'call_id' in said ? 'call_id' : 'id');
  return { name: partOf(said, 'name'), arguments: partOf(said, 'arguments'), id };
};
