// From a pinned definition to the declaration of a tool: the server's words, the operator's rules.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import type { RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { ForeignDefinition, Quarantine } from '../../contract/tool/tool-spec.ts';
import type { DefinitionRecord, PinnedDefinition } from '../../ports/registry/trusted-definitions.ts';
import type { McpServerOptions } from './options.ts';
import type { ScreenedDefinition } from './screen-definition.ts';

const CHANGED: Quarantine = {
  reason: 'TOOL_DEFINITION_CHANGED',
  message: 'The server defines this tool otherwise than was approved; an operator has to look at it.',
};

type Override = McpServerOptions['overrides'][string];

export function declarationOf(
  record: DefinitionRecord,
  pinned: PinnedDefinition,
  screened: ScreenedDefinition,
  options: McpServerOptions,
  baseDir: string,
): RawDeclaration {
  const { name, overrides, timeout_ms: common } = options;
  const override: Override = Object.hasOwn(overrides, record.remoteName)
    ? (overrides[record.remoteName] ?? {})
    : {};
  const timeout = override.timeout_ms ?? common;
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
    metadata: metadataOf(screened.annotations, override, options),
    ...(timeout !== undefined && { timeout_ms: timeout }),
  };
  const contentHash = hash('sha256', JSON.stringify([value, foreign]));
  return { value, contentHash, baseDir, foreign, locate: () => ({ file: `mcp-server:${name}` }) };
}

/** The operator's word first. Of the server's, what raises the risk is taken, and what lowers it only on trust. */
function metadataOf(
  annotations: JsonObject,
  { timeout_ms: _timeout, permissions: own, ...override }: Override,
  { permissions, tags, trust_annotations: trusted }: McpServerOptions,
): JsonObject {
  const said = (hint: string) => annotations[hint] === true;
  const reads = trusted && said('readOnlyHint');
  return {
    permissions: [...(own ?? permissions)],
    tags: [...tags],
    ...(said('destructiveHint') && { risk_level: 'high' }),
    ...(reads && { read_only: true }),
    ...((reads || (trusted && said('idempotentHint'))) && { idempotent: true }),
    ...(override as JsonObject),
  };
}
