// What the outside may know of a function: never its implementation. And which functions a listing asks for.
import type { ToolSet } from '../contract/tool/tool-set.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import type { ToolCatalog } from '../ports/registry/tool-catalog.ts';

export interface ToolFilter {
  readonly toolType?: string;
  readonly category?: string;
  readonly tag?: string;
  readonly mode?: string;
}

export function filterFunctions(snapshot: ToolSet, filter: ToolFilter): readonly ToolFunction[] {
  const { toolType, category, tag, mode } = filter;
  if (toolType === undefined && category === undefined && tag === undefined && mode === undefined)
    return snapshot.functions;
  return snapshot.functions.filter(({ spec }) => {
    const { metadata } = spec;
    return (
      (toolType === undefined || spec.toolType === toolType) &&
      (category === undefined || metadata.category === category) &&
      (tag === undefined || metadata.tags.includes(tag)) &&
      (mode === undefined || metadata.modes.some((served) => served === mode))
    );
  });
}

/** Every call would be refused: an operator has switched it off, or its server has changed what it is. */
export function isOff({ spec }: ToolFunction, catalog: Pick<ToolCatalog, 'isDisabled'>): boolean {
  return catalog.isDisabled(spec.name) || spec.foreign?.quarantine !== undefined;
}

/** snake_case, as REST sends it. */
export function viewOf(fn: ToolFunction, snapshot: ToolSet, disabled: boolean) {
  const { spec } = fn;
  const { metadata } = spec;
  return {
    name: fn.name,
    provider_name: snapshot.providerName(fn.name),
    description: fn.description,
    tool_type: spec.toolType,
    input_schema: fn.inputSchema,
    output_schema: fn.outputSchema ?? null,
    version: metadata.version,
    content_hash: spec.contentHash,
    category: metadata.category ?? null,
    summary: metadata.summary ?? null,
    permissions: metadata.permissions,
    risk_level: metadata.riskLevel,
    is_dangerous: metadata.isDangerous,
    requires_approval: metadata.requiresApproval,
    read_only: metadata.readOnly,
    idempotent: metadata.idempotent,
    modes: metadata.modes,
    tags: metadata.tags,
    timeout_ms: spec.timeoutMs,
    disabled,
    deprecated: fn.byAction !== undefined,
  };
}
