// The tools as agents see them: listed, described, and exported in the formats that LLM providers take.
import { hash } from 'node:crypto';
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFunction, Viewer } from '../../../contract/tool/tool-function.ts';
import { ToolLists, type FormatName } from '../../../formats/tool-lists.ts';
import { inSlices } from '../../../lib/concurrency/in-slices.ts';
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

/** Lists are pure functions of the snapshot and the query: kept until either changes, some of them. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;

interface KeptList {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

@Controller()
export class ToolsController {
  readonly #lists = new ToolLists();
  readonly #kept = new LRUCache<string, KeptList>({
    maxSize: MOST_KEPT_BYTES,
    sizeCalculation: ({ body }) => Math.max(1, body.length),
  });
  #changes = 0;
  /** The tools that are not shown to everybody, of the snapshot in force. */
  #guarded: readonly ToolFunction[] | undefined;

  constructor(
    @Inject(TOOL_CATALOG) private readonly catalog: ToolCatalog,
    @Inject(OFFERED_TOOLS) private readonly offered: OfferedTools,
  ) {
    this.catalog.onChange(() => {
      this.#changes += 1;
      this.#kept.clear();
      this.#guarded = undefined;
    });
  }

  @Serves(listTools)
  @Requires('tools:read')
  async list({ principal, query, headers }: Asked<typeof listTools>, reply: FastifyReply): Promise<void> {
    const viewer = { principal };
    const isOffered = offeredTo(this.offered, principal, query.agent_id);
    const whose = isOffered === undefined ? [] : [principal.tenantId, this.offered.generation];
    const key = JSON.stringify([query, this.#hiddenFrom(viewer), ...whose]);
    let found = this.#kept.get(key);
    if (found === undefined) {
      const changes = this.#changes;
      const shown = filterFunctions(this.catalog.snapshot(), { ...filterOf(query), isOffered }, viewer);
      found =
        query.format === undefined
          ? this.#page(query, shown)
          : await this.#export(query.format, query, shown);
      // Meanwhile another set may have come into force, or a tool been switched off.
      if (this.#changes === changes) this.#kept.set(key, found);
    }
    const { etag, type, body } = found;
    reply.header('etag', etag).header('cache-control', 'private, no-cache').header('content-type', type);
    if (headers['If-None-Match'] === etag) reply.code(304).send();
    else reply.code(200).send(body);
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
    const { name, description } = fn;
    const { summary = description, documentation = null } = fn.spec.metadata;
    return { name, description, summary, documentation };
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

  #page(query: Query, functions: readonly ToolFunction[]): KeptList {
    const snapshot = this.catalog.snapshot();
    const { page, next_page_token } = pageOf(functions, ({ name }) => name, query);
    const tools = page.map((fn) => viewOf(fn, snapshot, isOff(fn, this.catalog)));
    const body = { registry_version: snapshot.version, tools, next_page_token };
    return keptOf('application/json', JSON.stringify(body));
  }

  /** The whole list: providers take no pages. Tools that are switched off are left out: an agent could not call them. */
  async #export(format: FormatName, { strict }: Query, shown: readonly ToolFunction[]): Promise<KeptList> {
    const snapshot = this.catalog.snapshot();
    const functions = shown.filter((fn) => !isOff(fn, this.catalog));
    const nameOf = (name: string) => snapshot.providerName(name);
    const text = await inSlices(this.#lists.write(functions, nameOf, format, strict));
    return keptOf(format === 'prompt' ? 'text/plain' : 'application/json', text);
  }
}

function keptOf(type: string, text: string): KeptList {
  const body = Buffer.from(text);
  return { type: `${type}; charset=utf-8`, body, etag: `"${hash('sha256', body).slice(0, 16)}"` };
}

function filterOf(query: Query) {
  return { toolType: query.tool_type, category: query.category, tag: query.tag, mode: query.mode };
}
