// SearchTools: what somebody wants to do, as the search for tools takes it.
import type { Viewer } from '../../../contract/tool/tool-function.ts';
import { LONGEST_QUERY, MOST_FOUND, USUALLY_FOUND } from '../../../ports/registry/tool-search.ts';
import { findTools, type Searched } from '../../find-tools.ts';
import { isOff } from '../../tool-view.ts';
import { modeName } from '../interaction-mode.ts';
import { invalid } from '../invalid.ts';
import type { SearchToolsMessage } from '../wire-types.ts';
import { toolMessage } from './tool-message.ts';

/** Rejects with ToolFailure: VALIDATION, PERMISSION_DENIED, NOT_FOUND. */
export async function searchTools(
  from: Searched,
  { query, limit, mode: said, toolset, agentId }: SearchToolsMessage,
  { principal }: Viewer,
) {
  if (query === '' || query.length > LONGEST_QUERY)
    throw invalid('/query', `must be a string of 1 to ${LONGEST_QUERY} characters`);
  if (limit < 0 || limit > MOST_FOUND)
    throw invalid('/limit', `must be from 0 to ${MOST_FOUND}, found ${limit}`);
  const mode = modeName(said);
  if (said !== 0 && mode === undefined)
    throw invalid('/mode', `must be a known interaction mode, found ${said}`);
  const wanted = { principal, query, limit: limit === 0 ? USUALLY_FOUND : limit, toolset, agentId, mode };
  const { set, functions } = await findTools(from, wanted);
  const tools = functions.map((fn) => toolMessage(fn, set, isOff(fn, from.catalog)));
  return { tools, registryVersion: set.version };
}
