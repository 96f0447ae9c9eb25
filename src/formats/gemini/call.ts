// A call as Gemini's models ask for it: a part with a functionCall; function_call, as its Python SDK writes it.
import { isJsonObject } from '../../contract/json.ts';
import { partOf, type ProviderCallReader } from '../provider-call.ts';

export const geminiCall: ProviderCallReader = (said) => {
  const member = 'functionCall' in said ? 'functionCall' : 'function_call';
  const call = said[member];
  if (!isJsonObject(call)) return undefined;
  const of = (name: string) => partOf(call, name, `/${member}`);
  return { name: of('name'), arguments: of('args'), id: of('id') };
};
