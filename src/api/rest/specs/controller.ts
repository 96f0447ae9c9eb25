// Definitions of tools by REST: written, judged, compared and rolled back while the gateway runs.
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { jsonChanges } from '../../../lib/json/json-changes.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { SpecControl, SpecEdit, SpecOutcome } from '../../../ports/registry/spec-control.ts';
import type { ToolVersion } from '../../../ports/registry/spec-store.ts';
import { SPEC_CONTROL } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { pageOf } from '../route/page.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import {
  diffToolVersions,
  disableToolSpec,
  getToolSpec,
  listToolSpecs,
  listToolVersions,
  putToolSpec,
  rollbackToolSpec,
  SpecChange,
  ToolSpecHead,
  ToolSpecOutcome,
  ToolSpecVersion,
} from './schema.ts';
import { toolDocument } from './tool-document.ts';
import { etagOf, revisionWanted } from '../route/entity-tags.ts';

const WRITE = 'specs:write';
const MOST_CHANGES = 1_000;

@Controller()
export class SpecsController {
  constructor(@Inject(SPEC_CONTROL) private readonly specs: SpecControl) {}

  @Serves(listToolSpecs)
  @Requires(WRITE)
  async list({ query }: Asked<typeof listToolSpecs>) {
    const { page, next_page_token } = pageOf(await this.specs.list(), ({ name }) => name, query);
    return {
      specs: page.map((head) => wire(ToolSpecHead, { ...head, document: undefined })),
      next_page_token,
    };
  }

  @Serves(getToolSpec)
  @Requires(WRITE)
  async get({ params }: Asked<typeof getToolSpec>, reply: FastifyReply) {
    const head = await this.specs.get(params.name);
    reply.header('etag', etagOf(head.revision));
    return wire(ToolSpecHead, head);
  }

  @Serves(putToolSpec)
  @Requires(WRITE)
  @Recorded('specs.put', { on: 'tool', unless: ({ dry_run: dryRun }) => dryRun === 'true' })
  async put(asked: Asked<typeof putToolSpec>, reply: FastifyReply) {
    const { params, query, request } = asked;
    const edit = editOf(asked, query.note);
    const document = await toolDocument(request);
    if (query.dry_run) return this.#check(params.name, document);
    return outcomeOf(reply, await this.specs.put(params.name, document, edit));
  }

  @Serves(disableToolSpec)
  @Requires(WRITE)
  @Recorded('specs.disable', { on: 'tool' })
  async disable(asked: Asked<typeof disableToolSpec>, reply: FastifyReply) {
    const edit = editOf(asked, asked.query.note);
    return outcomeOf(reply, await this.specs.disable(asked.params.name, edit));
  }

  @Serves(listToolVersions)
  @Requires(WRITE)
  async versions({ params: { name }, query }: Asked<typeof listToolVersions>) {
    const [versions, changes] = await Promise.all([
      this.specs.versions(name, query.page_size),
      this.specs.changes(name, query.page_size),
    ]);
    return {
      name,
      versions: versions.map(wireVersion),
      changes: changes.map((change) => wire(SpecChange, change)),
    };
  }

  @Serves(diffToolVersions)
  @Requires(WRITE)
  async diff({ params: { name }, query }: Asked<typeof diffToolVersions>) {
    const [before, after] = await Promise.all([
      this.specs.version(name, query.from),
      this.specs.version(name, query.to),
    ]);
    const changes = jsonChanges(before.document, after.document, MOST_CHANGES);
    return { name, from: wireVersion(before), to: wireVersion(after), changes };
  }

  @Serves(rollbackToolSpec)
  @Requires(WRITE)
  @Recorded('specs.rollback', { on: 'tool' })
  async rollback(asked: Asked<typeof rollbackToolSpec>, reply: FastifyReply) {
    const { content_hash: hash, note } = asked.body;
    return outcomeOf(reply, await this.specs.rollback(asked.params.name, hash, editOf(asked, note)));
  }

  async #check(name: string, document: JsonObject) {
    const { contentHash, version, current } = await this.specs.check(name, document);
    const changes = jsonChanges(
      current?.enabled === true ? current.document : {},
      { name, ...document },
      MOST_CHANGES,
    );
    return { dry_run: true as const, name, content_hash: contentHash, version, changes };
  }
}

type Change = Asked<typeof putToolSpec | typeof disableToolSpec | typeof rollbackToolSpec>;

function editOf({ principal, request }: Change, note = ''): SpecEdit {
  const ifRevision = revisionWanted(request.headers);
  return { by: principal.id, note, ...(ifRevision !== undefined && { ifRevision }) };
}

function outcomeOf(reply: FastifyReply, outcome: SpecOutcome) {
  reply.header('etag', etagOf(outcome.revision));
  return wire(ToolSpecOutcome, outcome);
}

const wireVersion = (version: ToolVersion) => wire(ToolSpecVersion, version);
