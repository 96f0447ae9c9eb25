// What is told of the version that a call runs: in its audit record, and to whoever has it explained.
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';

/** `asked`: a version that is still to be looked for, and may be gone. */
export function noteVersion(
  { progress, phase }: ToolCall,
  { name, contentHash, metadata }: ToolSpec,
  asked?: string,
): void {
  const { versionSource: source } = progress;
  if (source !== undefined) progress.notes = { ...progress.notes, version_source: source };
  if (phase.kind !== 'explain') return;
  phase.tell('version', {
    tool: name,
    version: asked ?? metadata.version,
    content_hash: asked === undefined ? contentHash : null,
    source: source ?? 'current',
  });
}
