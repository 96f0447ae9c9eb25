// The tools as agents see them: listed, described, and exported in the formats that LLM providers take.
import { hash } from 'node:crypto';
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFunction, Viewer } from '../../../contract/tool/tool-function.ts';
import { toProviderTools, type ToolFormat } from '../../../formats/to-provider-tools.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { offeredTo } from '../../offered-to.ts';
import { OFFERED_TOOLS, TOOL_CATALOG, type OfferedTools } from '../../tokens.ts';
import { filterFunctions, findShown, isOff, viewOf } from '../../tool-view.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { pageOf } from '../route/page.ts';
import { Serves } from '../route/serves.ts';
import { getTool, getToolDocs, listTools } from './schema.ts';

type Query = Asked<typeof listTools>['query'];

/** Exports are pure functions of the snapshot and the query: kept until either changes, a few at a time. */
const MAX_KEPT_EXPORTS = 32;

@Controller()
export class ToolsController {
  readonly #exports = new Map<string, { type: string; text: string }>();
  /** The tools that are not shown to everybody, of the snapshot in force. */
  #guarded: readonly ToolFunction[] | undefined;

  constructor(
    @Inject(TOOL_CATALOG) private readonly catalog: ToolCatalog,
    @Inject(OFFERED_TOOLS) private readonly offered: OfferedTools,
  ) {
    this.catalog.onChange(() => {
      this.#exports.clear();
      this.#guarded = undefined;
    });
  }

  @Serves(listTools)
  @Requires('tools:read')
  list({ principal, query, headers }: Asked<typeof listTools>, reply: FastifyReply): void {
    const viewer = { principal };
    const isOffered = offeredTo(this.offered, principal, query.agent_id);
    const whose = isOffered === undefined ? [] : [principal.tenantId, this.offered.generation];
    const key = JSON.stringify([query, this.#hiddenFrom(viewer), ...whose]);
    let found = this.#exports.get(key);
    if (found === undefined) {
      const shown = filterFunctions(this.catalog.snapshot(), { ...filterOf(query), isOffered }, viewer);
      found =
        query.format === undefined ? this.#page(query, shown) : this.#export(query.format, query, shown);
      if (this.#exports.size >= MAX_KEPT_EXPORTS) this.#exports.clear();
      this.#exports.set(key, found);
    }
    const etag = `"${hash('sha256', found.text).slice(0, 16)}"`;
    reply
      .header('etag', etag)
      .header('cache-control', 'private, no-cache')
      .header('content-type', found.type);
    if (headers['If-None-Match'] === etag) reply.code(304).send();
    else reply.code(200).send(found.text);
  }

  @Serves(getTool)
  @Requires('tools:read')
  get({ principal, params }: Asked<typeof getTool>) {
    const { fn, snapshot } = this.#find(params.name, { principal });
    return viewOf(fn, snapshot, isOff(fn, this.catalog));
  }

  @Serves(getToolDocs)
  @Requires('tools:read')
  docs({ principal, params }: Asked<typeof getToolDocs>) {
    const { fn } = this.#find(params.name, { principal });
    const { summary, documentation } = fn.spec.metadata;
    return { name: fn.name, summary: summary ?? fn.description, documentation: documentation ?? null };
  }

  #find(name: string, viewer: Viewer) {
    const snapshot = this.catalog.snapshot();
    const fn = findShown(snapshot, name, viewer);
    if (fn !== undefined) return { fn, snapshot };
    throw toolFailure('TOOL_NOT_FOUND', 'There is no tool of this name.');
  }

  /** Answers are the same for all from whom the same is hidden. */
  #hiddenFrom(viewer: Viewer): readonly string[] {
    const snapshot = this.catalog.snapshot();
    this.#guarded ??= snapshot.functions.filter(({ name }) => snapshot.find(name)?.isShownTo !== undefined);
    return this.#guarded.flatMap(({ name }) =>
      findShown(snapshot, name, viewer) === undefined ? [name] : [],
    );
  }

  #page(query: Query, functions: readonly ToolFunction[]): { type: string; text: string } {
    const snapshot = this.catalog.snapshot();
    const { page, next_page_token } = pageOf(functions, ({ name }) => name, query);
    const tools = page.map((fn) => viewOf(fn, snapshot, isOff(fn, this.catalog)));
    const body = { registry_version: snapshot.version, tools, next_page_token };
    return { type: 'application/json; charset=utf-8', text: JSON.stringify(body) };
  }

  /** The whole list: providers take no pages. Tools that are switched off are left out: an agent could not call them. */
  #export(format: ToolFormat, query: Query, shown: readonly ToolFunction[]): { type: string; text: string } {
    const snapshot = this.catalog.snapshot();
    const functions = shown.filter((fn) => !isOff(fn, this.catalog));
    const exported = toProviderTools(functions, (name) => snapshot.providerName(name), format, {
      strict: query.strict,
    });
    if (typeof exported === 'string') return { type: 'text/plain; charset=utf-8', text: exported };
    return { type: 'application/json; charset=utf-8', text: JSON.stringify(exported) };
  }
}

function filterOf(query: Query) {
  return { toolType: query.tool_type, category: query.category, tag: query.tag, mode: query.mode };
}
