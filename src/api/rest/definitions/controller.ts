// Definitions of tools on MCP servers by REST: what was agreed to, what is there now, and the decision about it.
import { Controller, Inject } from '@nestjs/common';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { showingHidden } from '../../../lib/text/hidden-text.ts';
import { jsonChanges } from '../../../lib/json/json-changes.ts';
import type { TrustedDefinitions, DefinitionRecord } from '../../../ports/registry/trusted-definitions.ts';
import type { RegistryControl } from '../../../ports/registry/registry-control.ts';
import { TRUSTED_DEFINITIONS, REGISTRY_CONTROL } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { pageOf } from '../route/page.ts';
import { Serves } from '../route/serves.ts';
import type { WireOf } from '../route/shapes.ts';
import { approveToolDefinition, listToolDefinitions, type ToolDefinition } from './schema.ts';

@Controller()
export class DefinitionsController {
  constructor(
    @Inject(TRUSTED_DEFINITIONS) private readonly trusted: TrustedDefinitions,
    @Inject(REGISTRY_CONTROL) private readonly registry: RegistryControl,
  ) {}

  @Serves(listToolDefinitions)
  @Requires(PLATFORM)
  async list({ query }: Asked<typeof listToolDefinitions>) {
    const { state } = query;
    const records = (await this.trusted.list()).filter(
      (record) => state === undefined || record.state === state,
    );
    const { page, next_page_token } = pageOf(records, ({ tool }) => tool, query);
    return { definitions: page.map(wireRecord), next_page_token };
  }

  @Serves(approveToolDefinition)
  @Requires(PLATFORM)
  @Recorded('definitions.approve', { on: 'tool' })
  async approve({ principal, params, body }: Asked<typeof approveToolDefinition>) {
    const outcome = await this.trusted.approve(params.name, body.hash, principal.id);
    if (!outcome.approved) throw refusal(outcome.why);
    const { ok, leftOut } = await this.registry.reload();
    const isLeftOut = leftOut.some(({ tool }) => tool === params.name);
    return { ...wireRecord(outcome.record), reloaded: ok && !isLeftOut };
  }
}

function refusal(why: 'unknown' | 'other' | 'refused'): ToolFailure {
  if (why === 'unknown')
    return toolFailure('DEFINITION_NOT_FOUND', 'There is no definition of a tool of this name.');
  const message =
    why === 'other'
      ? 'The server defines this tool otherwise by now: look at it again.'
      : 'What the server has now cannot be a tool here.';
  const reason = why === 'other' ? 'DEFINITION_CHANGED' : 'DEFINITION_REFUSED';
  return new ToolFailure('CONFLICT', message, { reason });
}

/** Only what an operator has to decide about is shown whole: a hundred pinned definitions are megabytes. */
function wireRecord({
  server,
  tool,
  remoteName,
  state,
  pinned,
  seen,
}: DefinitionRecord): WireOf<typeof ToolDefinition> {
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
