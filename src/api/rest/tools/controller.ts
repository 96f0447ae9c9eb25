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
import type { Toolsets } from '../../../ports/registry/toolsets.ts';
import type { ToolSet } from '../../../contract/tool/tool-set.ts';
import { offeringFor, type Offered } from '../../offered-toolset.ts';
import { OFFERED_TOOLS, TOOL_CATALOG, TOOLSETS, type OfferedTools } from '../../tokens.ts';
import { filterFunctions, findShown, isOff, viewOf } from '../../tool-view.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { pageOf } from '../route/page.ts';
import { Serves } from '../route/serves.ts';
import { getTool, getToolDocs, listTools } from './schema.ts';

type Query = Asked<typeof listTools>['query'];

/** Lists are pure functions of the snapshot and the query: kept until either changes, some of them. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;

/** Which toolset a tool is looked for in, and for which agent. */
type Of = Asked<typeof getTool>['query'];

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
  readonly #from: Offered;
  #changes = 0;
  /** The tools that are not shown to everybody, by the set that holds them. */
  readonly #guarded = new WeakMap<ToolSet, readonly ToolFunction[]>();

  constructor(
    @Inject(TOOL_CATALOG) private readonly catalog: ToolCatalog,
    @Inject(OFFERED_TOOLS) private readonly offered: OfferedTools,
    @Inject(TOOLSETS) private readonly toolsets: Toolsets,
  ) {
    this.#from = { catalog, toolsets, offered };
    const changed = () => {
      this.#changes += 1;
      this.#kept.clear();
    };
    this.catalog.onChange(changed);
    this.toolsets.onChange(changed);
  }

  @Serves(listTools)
  @Requires('tools:read')
  async list({ principal, query, headers }: Asked<typeof listTools>, reply: FastifyReply): Promise<void> {
    const viewer = { principal };
    const { listed, isListed } = offeringFor(this.#from, {
      principal,
      agentId: query.agent_id,
      toolset: query.toolset,
    });
    const whose = isListed === undefined ? [] : [principal.tenantId, this.offered.generation];
    const key = JSON.stringify([query, this.#hiddenFrom(listed, viewer), ...whose]);
    let found = this.#kept.get(key);
    if (found === undefined) {
      const changes = this.#changes;
      const shown = filterFunctions(listed, { ...filterOf(query), isOffered: isListed }, viewer);
      found =
        query.format === undefined
          ? this.#page(query, listed, shown)
          : await this.#export(query.format, query, listed, shown);
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
  get({ principal, params, query }: Asked<typeof getTool>) {
    const { fn, snapshot } = this.#find(params.name, { principal }, query);
    return viewOf(fn, snapshot, isOff(fn, this.catalog));
  }

  @Serves(getToolDocs)
  @Requires('tools:read')
  docs({ principal, params, query }: Asked<typeof getToolDocs>) {
    const { fn } = this.#find(params.name, { principal }, query);
    const { name, description } = fn;
    const { summary = description, documentation = null } = fn.spec.metadata;
    return { name, description, summary, documentation };
  }

  #find(name: string, viewer: Viewer, { toolset, agent_id: agentId }: Of) {
    const { tools: snapshot } = offeringFor(this.#from, { ...viewer, agentId, toolset });
    const fn = findShown(snapshot, name, viewer);
    if (fn !== undefined) return { fn, snapshot };
    throw toolFailure('TOOL_NOT_FOUND', 'There is no tool of this name.');
  }

  /** Answers are the same for all from whom the same is hidden. */
  #hiddenFrom(set: ToolSet, viewer: Viewer): readonly string[] {
    let guarded = this.#guarded.get(set);
    if (guarded === undefined) {
      guarded = set.functions.filter(({ name }) => set.find(name)?.isShownTo !== undefined);
      this.#guarded.set(set, guarded);
    }
    return guarded.flatMap(({ name }) => (findShown(set, name, viewer) === undefined ? [name] : []));
  }

  #page(query: Query, snapshot: ToolSet, functions: readonly ToolFunction[]): KeptList {
    const { page, next_page_token } = pageOf(functions, ({ name }) => name, query);
    const tools = page.map((fn) => viewOf(fn, snapshot, isOff(fn, this.catalog)));
    const body = { registry_version: snapshot.version, tools, next_page_token };
    return keptOf('application/json', JSON.stringify(body));
  }

  /** The whole list: providers take no pages. Tools that are switched off are left out: an agent could not call them. */
  async #export(
    format: FormatName,
    { strict }: Query,
    snapshot: ToolSet,
    shown: readonly ToolFunction[],
  ): Promise<KeptList> {
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
