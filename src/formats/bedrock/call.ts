// A call as Bedrock hands it over: a content block with a toolUse.
import { isJsonObject } from '../../contract/json.ts';
import { partOf, type ProviderCallReader } from '../provider-call.ts';

export const bedrockCall: ProviderCallReader = ({ toolUse }) => {
  if (!isJsonObject(toolUse)) return undefined;
  const of = (name: string) => partOf(toolUse, name, '/toolUse');
  return { name: of('name'), arguments: of('input'), id: of('toolUseId') };
};
