// Definitions of tools on MCP servers by REST: what was agreed to, what is there now, and the decision about it.
import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { showingHidden } from '../../lib/text/hidden-text.ts';
import { jsonChanges } from '../../lib/json/json-changes.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import {
  DEFINITION_STATES,
  type DefinitionPins,
  type DefinitionRecord,
} from '../../ports/registry/definition-pins.ts';
import type { RegistryControl } from '../../ports/registry/registry-control.ts';
import { AUTHENTICATOR, DEFINITION_PINS, MANAGEMENT_ACTS, REGISTRY_CONTROL } from '../tokens.ts';
import type { ManagementActs } from './management-acts.ts';
import { PLATFORM, requirePermission } from './management.ts';
import { pageOf, pageSize } from './page.ts';
import { bodyOf, invalid } from './read-call.ts';

@Controller('v1/admin/definitions')
export class DefinitionsController {
  constructor(
    @Inject(DEFINITION_PINS) private readonly pins: DefinitionPins,
    @Inject(REGISTRY_CONTROL) private readonly registry: RegistryControl,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @Get()
  async list(
    @Req() request: FastifyRequest,
    @Query('state') state?: string,
    @Query('page_size') size?: string,
    @Query('page_token') token?: string,
  ) {
    requirePermission(this.authenticator, request, PLATFORM);
    if (state !== undefined && !DEFINITION_STATES.some((known) => known === state))
      throw invalid('/state', `must be one of ${DEFINITION_STATES.join(', ')}`);
    const records = (await this.pins.list()).filter(
      (record) => state === undefined || record.state === state,
    );
    const named = records.map((record) => ({ name: record.tool, record }));
    const { page, nextToken } = pageOf(named, pageSize(size), token);
    return { definitions: page.map(({ record }) => wireRecord(record)), next_page_token: nextToken };
  }

  @Post(':name/approve')
  @HttpCode(200)
  approve(@Req() request: FastifyRequest, @Param('name') tool: string) {
    const act = { action: 'definitions.approve', permission: PLATFORM, target: tool, tool };
    return this.acts.perform(request, act, async ({ id }) => {
      const outcome = await this.pins.approve(tool, hashOf(bodyOf(request)), id);
      if (!outcome.approved) throw refusal(outcome.why);
      const { ok } = await this.registry.reload();
      return { ...wireRecord(outcome.record), reloaded: ok };
    });
  }
}

function hashOf(body: unknown): string {
  const hash = isJsonObject(body) ? body['hash'] : undefined;
  if (typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash)) return hash;
  throw invalid('/hash', 'must be the hash of the definition that is approved, as the list shows it');
}

function refusal(why: 'unknown' | 'other' | 'refused'): ToolFailure {
  if (why === 'unknown')
    return new ToolFailure('NOT_FOUND', 'There is no definition of a tool of this name.', {
      reason: 'DEFINITION_NOT_FOUND',
    });
  const message =
    why === 'other'
      ? 'The server defines this tool otherwise by now: look at it again.'
      : 'What the server has now cannot be a tool here.';
  const reason = why === 'other' ? 'DEFINITION_CHANGED' : 'DEFINITION_REFUSED';
  return new ToolFailure('CONFLICT', message, { reason });
}

/** Only what an operator has to decide about is shown whole: a hundred pinned definitions are megabytes. */
function wireRecord({ server, tool, remoteName, state, pinned, seen }: DefinitionRecord) {
  const now = seen !== undefined && 'hash' in seen ? seen : undefined;
  const changes = pinned && now ? jsonChanges(pinned.definition, now.definition) : [];
  return {
    tool,
    server,
    remote_name: remoteName,
    state,
    pinned_hash: pinned?.hash ?? null,
    pinned_at: pinned === undefined ? null : new Date(pinned.at).toISOString(),
    pinned_by: pinned === undefined ? null : pinned.by || 'first use',
    seen_hash: state === 'pinned' ? (pinned?.hash ?? null) : (now?.hash ?? null),
    refused: seen !== undefined && 'refused' in seen ? seen.refused : null,
    definition: state === 'new' && now !== undefined ? shown(now.definition) : null,
    changes: changes.map(({ pointer, before, after }) => ({
      pointer: showingHidden(pointer),
      before: before === undefined ? null : shown(before),
      after: after === undefined ? null : shown(after),
    })),
  };
}

/** With hidden characters written out: what an operator cannot see cannot be approved knowingly. */
function shown(value: JsonValue): JsonValue {
  if (typeof value === 'string') return showingHidden(value);
  if (Array.isArray(value)) return value.map(shown);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]): [string, JsonValue] => [
    showingHidden(key),
    shown(member),
  ]);
  return Object.fromEntries(entries) satisfies JsonObject;
}
