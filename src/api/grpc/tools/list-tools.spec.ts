// ListTools: every tool is shown exactly once over the pages, filtered as asked, and never with its implementation.
import { describe, expect, it } from 'vitest';
import { functionsOf } from '../../../contract/tool/tool-function.ts';
import type { ToolSet } from '../../../contract/tool/tool-set.ts';
import type { ToolSpec } from '../../../contract/tool/tool-spec.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { principalOf, specOf } from '../../../../test/helpers/call-kit.ts';
import { listTools } from './list-tools.ts';
import { encodeListResponse, type ListToolsMessage } from '../wire-types.ts';

const METADATA = specOf().metadata;
const VIEWER = { principal: principalOf() };
const NO_FILTER: ListToolsMessage = {
  pageSize: 0,
  pageToken: '',
  toolType: '',
  category: '',
  tag: '',
  mode: 0,
  agentId: '',
  toolset: '',
};

function catalogOf(specs: readonly ToolSpec[], disabled: readonly string[] = []): ToolCatalog {
  const functions = specs.flatMap(functionsOf).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const snapshot: ToolSet = {
    version: '1.0.00000001',
    contentHash: '',
    specs,
    functions,
    find: (name) => functions.map((fn) => ({ function: fn })).find((known) => known.function.name === name),
    providerName: (name) => name.replaceAll('.', '__'),
  };
  return {
    snapshot: () => snapshot,
    onChange: () => () => undefined,
    isDisabled: (name) => disabled.includes(name),
  };
}

const listed = (catalog: ToolCatalog, request: ListToolsMessage) =>
  listTools(catalog, request, VIEWER, { listed: catalog.snapshot(), isListed: undefined });
const names = (catalog: ToolCatalog, request: Partial<ListToolsMessage>) =>
  listed(catalog, { ...NO_FILTER, ...request }).tools.map(({ name }) => name);

describe('listing tools', () => {
  it('shows each tool once over all pages, whatever their size', () => {
    const specs = Array.from({ length: 25 }, (_, index) =>
      specOf({ name: `tool_${String(index).padStart(2, '0')}` }),
    );
    const catalog = catalogOf(specs);
    for (const pageSize of [1, 7, 25, 100]) {
      const seen: string[] = [];
      let pageToken = '';
      do {
        const page = listed(catalog, { ...NO_FILTER, pageSize, pageToken });
        expect(page.tools.length).toBeLessThanOrEqual(pageSize);
        seen.push(...page.tools.map(({ name }) => name));
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      expect(seen).toEqual(specs.map(({ name }) => name));
    }
  });

  it('filters by type, category, tag and mode', () => {
    const catalog = catalogOf([
      specOf({
        name: 'a',
        toolType: 'http',
        metadata: { ...METADATA, category: 'retrieval', tags: ['x'], modes: ['voice'] },
      }),
      specOf({
        name: 'b',
        toolType: 'python',
        metadata: { ...METADATA, category: 'action', tags: ['x', 'y'], modes: ['text'] },
      }),
    ]);
    expect(names(catalog, { toolType: 'http' })).toEqual(['a']);
    expect(names(catalog, { category: 'action' })).toEqual(['b']);
    expect(names(catalog, { tag: 'x' })).toEqual(['a', 'b']);
    expect(names(catalog, { tag: 'x', mode: 2 })).toEqual(['b']);
  });

  it('refuses a page token of its own making, a negative size and an unknown mode', () => {
    const catalog = catalogOf([specOf()]);
    for (const wrong of [{ pageToken: 'bogus' }, { pageSize: -1 }, { mode: 9 }]) {
      expect(() => listed(catalog, { ...NO_FILTER, ...wrong })).toThrow(
        expect.objectContaining({ type: 'VALIDATION' }),
      );
    }
  });

  it('ends a page early when its schemas are large, and still shows every tool', () => {
    const inputSchema = { type: 'object', description: 'x'.repeat(1_000_000) };
    const catalog = catalogOf(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => specOf({ name, inputSchema })));
    const first = listed(catalog, NO_FILTER);
    expect(encodeListResponse(first).length).toBeLessThan(8 * 1024 * 1024);
    const rest = listed(catalog, { ...NO_FILTER, pageToken: first.nextPageToken });
    expect([...first.tools, ...rest.tools].map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('shows a tool that is switched off as disabled, and never how a tool is implemented', () => {
    const secret = specOf({ name: 'a', implementationConfig: { url: 'http://internal.example/secret' } });
    const page = listed(catalogOf([secret], ['a']), NO_FILTER);
    expect(page.tools).toMatchObject([{ name: 'a', disabled: true }]);
    expect(Buffer.from(encodeListResponse(page)).includes('internal.example')).toBe(false);
  });
});
