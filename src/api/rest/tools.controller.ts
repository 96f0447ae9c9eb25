// The tools as agents see them: listed, described, and exported in the formats that LLM providers take.
import { Controller, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import { isToolFormat, TOOL_FORMATS, toProviderTools } from '../../formats/to-provider-tools.ts';
import { AUTHENTICATOR, TOOL_CATALOG } from '../tokens.ts';
import { filterFunctions, isOff, viewOf } from '../tool-view.ts';
import { requirePermission } from './management.ts';
import { pageOf, pageSize } from './page.ts';
import { invalid } from './read-call.ts';

const QUERY_KEYS = [
  'tool_type',
  'category',
  'tag',
  'mode',
  'format',
  'strict',
  'page_size',
  'page_token',
] as const;
type ToolsQuery = { readonly [key in (typeof QUERY_KEYS)[number]]?: string };
/** Exports are pure functions of the snapshot and the query: kept until either changes, a few at a time. */
const MAX_KEPT_EXPORTS = 32;

@Controller('v1/tools')
export class ToolsController {
  readonly #exports = new Map<string, { type: string; text: string }>();

  constructor(
    @Inject(TOOL_CATALOG) private readonly catalog: ToolCatalog,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {
    this.catalog.onChange(() => this.#exports.clear());
  }

  @Get()
  list(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @Query() query: ToolsQuery): void {
    requirePermission(this.authenticator, request, 'tools:read');
    checkQuery(query);
    const key = JSON.stringify(QUERY_KEYS.map((name) => query[name]));
    let found = this.#exports.get(key);
    if (found === undefined) {
      found = query.format === undefined ? this.#page(query) : this.#export(query.format, query);
      if (this.#exports.size >= MAX_KEPT_EXPORTS) this.#exports.clear();
      this.#exports.set(key, found);
    }
    const etag = `"${hash('sha256', found.text).slice(0, 16)}"`;
    reply
      .header('etag', etag)
      .header('cache-control', 'private, no-cache')
      .header('content-type', found.type);
    if (request.headers['if-none-match'] === etag) reply.code(304).send();
    else reply.code(200).send(found.text);
  }

  @Get(':name')
  get(@Req() request: FastifyRequest, @Param('name') name: string) {
    const { fn, snapshot } = this.#find(request, name);
    return viewOf(fn, snapshot, isOff(fn, this.catalog));
  }

  @Get(':name/docs')
  docs(@Req() request: FastifyRequest, @Param('name') name: string) {
    const { fn } = this.#find(request, name);
    const { summary, documentation } = fn.spec.metadata;
    return { name: fn.name, summary: summary ?? fn.description, documentation: documentation ?? null };
  }

  #find(request: FastifyRequest, name: string) {
    requirePermission(this.authenticator, request, 'tools:read');
    const snapshot = this.catalog.snapshot();
    const fn = snapshot.find(name)?.function;
    if (fn !== undefined) return { fn, snapshot };
    throw new ToolFailure('NOT_FOUND', 'There is no tool of this name.', { reason: 'TOOL_NOT_FOUND' });
  }

  #page(query: ToolsQuery): { type: string; text: string } {
    const snapshot = this.catalog.snapshot();
    const { page, nextToken } = pageOf(
      filterFunctions(snapshot, filterOf(query)),
      pageSize(query.page_size),
      query.page_token,
    );
    const tools = page.map((fn) => viewOf(fn, snapshot, isOff(fn, this.catalog)));
    const body = { registry_version: snapshot.version, tools, next_page_token: nextToken };
    return { type: 'application/json; charset=utf-8', text: JSON.stringify(body) };
  }

  /** The whole list: providers take no pages. Tools that are switched off are left out: an agent could not call them. */
  #export(format: string, query: ToolsQuery): { type: string; text: string } {
    if (!isToolFormat(format)) throw invalid('/format', `must be one of ${TOOL_FORMATS.join(', ')}`);
    const snapshot = this.catalog.snapshot();
    const functions = filterFunctions(snapshot, filterOf(query)).filter((fn) => !isOff(fn, this.catalog));
    const exported = toProviderTools(functions, (name) => snapshot.providerName(name), format, {
      strict: query.strict === 'true',
    });
    if (typeof exported === 'string') return { type: 'text/plain; charset=utf-8', text: exported };
    return { type: 'application/json; charset=utf-8', text: JSON.stringify(exported) };
  }
}

function filterOf(query: ToolsQuery) {
  return { toolType: query.tool_type, category: query.category, tag: query.tag, mode: query.mode };
}

function checkQuery(query: ToolsQuery): void {
  const { mode, strict } = query;
  if (mode !== undefined && mode !== 'voice' && mode !== 'text')
    throw invalid('/mode', 'must be voice or text');
  if (strict !== undefined && strict !== 'true' && strict !== 'false')
    throw invalid('/strict', 'must be true or false');
}
