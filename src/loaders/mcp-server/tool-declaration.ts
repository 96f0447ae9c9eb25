// From a pinned definition to the declaration of a tool: the server's words, the operator's rules.
import { hash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { ForeignDefinition, Quarantine } from '../../contract/tool/tool-spec.ts';
import { declaredBy, overrideFor, type ToolOverride } from '../../lib/overrides/tool-overrides.ts';
import type { DefinitionRecord, PinnedDefinition } from '../../ports/registry/trusted-definitions.ts';
import type { McpServerOptions } from './options.ts';
import type { ScreenedDefinition } from './screen-definition.ts';

const CHANGED: Quarantine = {
  reason: 'TOOL_DEFINITION_CHANGED',
  message: 'The server defines this tool otherwise than was approved; an operator has to look at it.',
};

export function declarationOf(
  record: DefinitionRecord,
  pinned: PinnedDefinition,
  screened: ScreenedDefinition,
  options: McpServerOptions,
  baseDir: string,
): RawDeclaration {
  const { name, overrides, timeout_ms: common } = options;
  const override = overrideFor(overrides, [record.remoteName]);
  const said = declaredBy(override);
  const foreign: ForeignDefinition = {
    server: name,
    ...(record.state === 'changed' && { quarantine: CHANGED }),
  };
  const value: JsonObject = {
    name: record.tool,
    description: screened.description || `The tool ${record.remoteName} of the server ${name}.`,
    tool_type: 'mcp',
    input_schema: screened.inputSchema,
    ...(screened.outputSchema && { output_schema: screened.outputSchema }),
    implementation_config: { connection: name, tool: record.remoteName, definition_hash: pinned.hash },
    metadata: { ...metadataOf(screened.annotations, override, options), ...said.metadata },
    ...(common !== undefined && { timeout_ms: common }),
    ...said.fields,
  };
  const contentHash = hash('sha256', JSON.stringify([value, foreign]));
  return { value, contentHash, baseDir, foreign, locate: () => ({ file: `mcp-server:${name}` }) };
}

/** What the server says of a tool, as far as it is believed; the operator's own words go over it. */
function metadataOf(
  annotations: JsonObject,
  { read_only: saidToRead }: ToolOverride,
  { permissions, tags, trust_annotations: trusted, unannotated_risk: unannotated }: McpServerOptions,
): JsonObject {
  const says = (hint: string) => annotations[hint] === true;
  const reads = trusted && says('readOnlyHint');
  const risk =
    says('readOnlyHint') || saidToRead === true ? harmlessUnless(says('destructiveHint')) : undefined;
  return {
    permissions: [...permissions],
    tags: [...tags],
    risk_level: risk ?? riskBy(annotations['destructiveHint'], unannotated),
    ...(reads && { read_only: true }),
    ...((reads || (trusted && says('idempotentHint'))) && { idempotent: true }),
  };
}

/** To the protocol a tool destroys until it says otherwise. */
function riskBy(destroys: JsonValue | undefined, unannotated: string): string {
  return typeof destroys === 'boolean' ? harmlessUnless(destroys) : unannotated;
}

function harmlessUnless(destroys: boolean): string {
  return destroys ? 'high' : 'low';
}
