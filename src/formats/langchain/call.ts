// A call as LangChain hands it over, whatever the model was: `{name, args, id}`.
import { partOf, type ProviderCallReader } from '../provider-call.ts';

export const langChainCall: ProviderCallReader = (said) =>
  'name' in said && 'args' in said
    ? { name: partOf(said, 'name'), arguments: partOf(said, 'args'), id: partOf(said, 'id') }
    : undefined;
