// Definitions of tools by REST: written, judged, compared and rolled back while the gateway runs.
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject } from '../../contract/json.ts';
import { jsonChanges } from '../../lib/json/json-changes.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { SpecControl, SpecEdit } from '../../ports/registry/spec-control.ts';
import { AUTHENTICATOR, MANAGEMENT_ACTS, SPEC_CONTROL } from '../tokens.ts';
import type { ManagementActs } from './management-acts.ts';
import { requirePermission } from './management.ts';
import { pageOf, pageSize } from './page.ts';
import { bodyOf, invalid } from './read-call.ts';
import { toolDocument } from './tool-document.ts';
import { etagOf, revisionWanted, wireChange, wireHead, wireOutcome, wireVersion } from './wire-specs.ts';

const MAX_NOTE = 500;
const MOST_CHANGES = 1_000;
/** More than a human reads at once. */
const HISTORY_SIZE = 100;

@Controller('v1/specs')
export class SpecsController {
  constructor(
    @Inject(SPEC_CONTROL) private readonly specs: SpecControl,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @Get()
  async list(
    @Req() request: FastifyRequest,
    @Query('page_size') size?: string,
    @Query('page_token') token?: string,
  ) {
    this.#who(request);
    const { page, nextToken } = pageOf(await this.specs.list(), pageSize(size), token);
    const specs = page.map((head) => wireHead(head, false));
    return { specs, next_page_token: nextToken };
  }

  @Get(':name')
  async get(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('name') name: string,
  ) {
    this.#who(request);
    const head = await this.specs.get(name);
    reply.header('etag', etagOf(head.revision));
    return wireHead(head, true);
  }

  @Put(':name')
  async put(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('name') name: string,
    @Query('dry_run') dryRun?: string,
    @Query('note') note?: string,
  ) {
    if (dryRun === 'true') {
      this.#edit(request, note);
      return this.#check(name, await toolDocument(request));
    }
    const outcome = await this.#perform(request, 'specs.put', name, async () => {
      const edit = this.#edit(request, note);
      const document = await toolDocument(request);
      if (dryRun !== undefined && dryRun !== 'false') throw invalid('/dry_run', 'must be true or false');
      return this.specs.put(name, document, edit);
    });
    reply.header('etag', etagOf(outcome.revision));
    return wireOutcome(outcome);
  }

  @Delete(':name')
  async disable(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('name') name: string,
    @Query('note') note?: string,
  ) {
    const outcome = await this.#perform(request, 'specs.disable', name, () =>
      this.specs.disable(name, this.#edit(request, note)),
    );
    reply.header('etag', etagOf(outcome.revision));
    return wireOutcome(outcome);
  }

  @Get(':name/versions')
  async versions(
    @Req() request: FastifyRequest,
    @Param('name') name: string,
    @Query('page_size') size?: string,
  ) {
    this.#who(request);
    const most = size === undefined ? HISTORY_SIZE : pageSize(size);
    const [versions, changes] = await Promise.all([
      this.specs.versions(name, most),
      this.specs.changes(name, most),
    ]);
    return { name, versions: versions.map(wireVersion), changes: changes.map(wireChange) };
  }

  @Get(':name/diff')
  async diff(
    @Req() request: FastifyRequest,
    @Param('name') name: string,
    @Query('from') from?: string,
    @Query('to') to?: string,
  ) {
    this.#who(request);
    const [before, after] = await Promise.all([
      this.#version(name, 'from', from),
      this.#version(name, 'to', to),
    ]);
    const changes = jsonChanges(before.document, after.document, MOST_CHANGES);
    return { name, from: wireVersion(before), to: wireVersion(after), changes };
  }

  @Post(':name/rollback')
  @HttpCode(200)
  async rollback(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('name') name: string,
  ) {
    const outcome = await this.#perform(request, 'specs.rollback', name, () => {
      const { hash, note } = rollbackOf(bodyOf(request));
      return this.specs.rollback(name, hash, this.#edit(request, note));
    });
    reply.header('etag', etagOf(outcome.revision));
    return wireOutcome(outcome);
  }

  async #check(name: string, document: Parameters<SpecControl['check']>[1]) {
    const { contentHash, version, current } = await this.specs.check(name, document);
    const changes = jsonChanges(
      current?.enabled === true ? current.document : {},
      { name, ...document },
      MOST_CHANGES,
    );
    return { dry_run: true, name, content_hash: contentHash, version, changes };
  }

  /** Async: a refusal of the one must not leave the other's failure with nobody to hear it. */
  async #version(name: string, parameter: 'from' | 'to', wanted: string | undefined) {
    if (typeof wanted !== 'string' || wanted === '')
      throw invalid(`/${parameter}`, 'must be the hash of a version, or what it is called');
    return this.specs.version(name, wanted);
  }

  #edit(request: FastifyRequest, note = ''): SpecEdit {
    const by = this.#who(request);
    if (typeof note !== 'string' || note.length > MAX_NOTE)
      throw invalid('/note', `must have at most ${MAX_NOTE} characters`);
    const ifRevision = revisionWanted(request.headers);
    return { by, note, ...(ifRevision !== undefined && { ifRevision }) };
  }

  #perform<Result>(request: FastifyRequest, action: string, name: string, work: () => Promise<Result>) {
    const act = { action, permission: 'specs:write', target: name, tool: name };
    return this.acts.perform(request, act, work);
  }

  #who(request: FastifyRequest): string {
    return requirePermission(this.authenticator, request, 'specs:write').id;
  }
}

function rollbackOf(body: unknown): { readonly hash: string; readonly note: string | undefined } {
  const { content_hash: hash, note, ...strays } = isJsonObject(body) ? body : {};
  const stray = Object.keys(strays)[0];
  if (stray !== undefined)
    throw invalid(`/${stray.slice(0, 64)}`, 'is unknown; expected content_hash and note');
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash))
    throw invalid('/content_hash', 'must be the hash of the version to go back to');
  if (note !== undefined && typeof note !== 'string') throw invalid('/note', 'must be a string');
  return { hash, note };
}
