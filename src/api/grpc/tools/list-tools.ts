// ListTools: one page of the tools in force, by name. The token names the last tool shown, so a reload between pages is harmless.
import type { Viewer } from '../../../contract/tool/tool-function.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import type { Offering } from '../../offered-toolset.ts';
import { filterFunctions, isOff, type ToolFilter } from '../../tool-view.ts';
import { invalid } from '../invalid.ts';
import { modeName } from '../interaction-mode.ts';
import { sizeOf, toolMessage, type ToolMessage } from './tool-message.ts';
import type { ListToolsMessage } from '../wire-types.ts';

const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1000;
/** A page ends early here, well below what one message may hold. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

export interface ToolPage {
  readonly tools: readonly ToolMessage[];
  readonly nextPageToken: string;
  readonly registryVersion: string;
}

/** Throws ToolFailure VALIDATION. */
export function listTools(
  catalog: Pick<ToolCatalog, 'isDisabled'>,
  request: ListToolsMessage,
  viewer: Viewer,
  { listed: snapshot, isListed: isOffered }: Pick<Offering, 'listed' | 'isListed'>,
): ToolPage {
  const size = pageSizeOf(request);
  const after = nameIn(request.pageToken);
  const tools: ToolMessage[] = [];
  let bytes = 0;
  let last = '';
  for (const fn of filterFunctions(snapshot, { ...filterOf(request), isOffered }, viewer)) {
    if (fn.name <= after) continue;
    if (tools.length === size || bytes > MAX_PAGE_BYTES) {
      return { tools, nextPageToken: tokenFor(last), registryVersion: snapshot.version };
    }
    const message = toolMessage(fn, snapshot, isOff(fn, catalog));
    tools.push(message);
    bytes += sizeOf(message);
    last = fn.name;
  }
  return { tools, nextPageToken: '', registryVersion: snapshot.version };
}

function filterOf({ toolType, category, tag, mode }: ListToolsMessage): ToolFilter {
  const wanted = modeName(mode);
  if (mode !== 0 && wanted === undefined)
    throw invalid('/mode', `must be a known interaction mode, found ${mode}`);
  return { toolType: said(toolType), category: said(category), tag: said(tag), mode: wanted };
}

function said(text: string): string | undefined {
  return text === '' ? undefined : text;
}

function pageSizeOf({ pageSize }: ListToolsMessage): number {
  if (pageSize < 0) throw invalid('/page_size', `must not be below 0, found ${pageSize}`);
  return pageSize === 0 ? DEFAULT_PAGE_SIZE : Math.min(pageSize, MAX_PAGE_SIZE);
}

function tokenFor(name: string): string {
  return Buffer.from(`1:${name}`).toString('base64url');
}

function nameIn(token: string): string {
  if (token === '') return '';
  const text = Buffer.from(token, 'base64url').toString('utf8');
  if (!text.startsWith('1:'))
    throw invalid('/page_token', 'must be the next_page_token of an earlier answer');
  return text.slice(2);
}
