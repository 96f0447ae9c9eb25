// What the outside may know of a function: never its implementation. And which functions a listing asks for.
import { servesMode, type InteractionMode } from '../contract/tool/tool-spec.ts';
import type { ToolSet } from '../contract/tool/tool-set.ts';
import { holds } from '../contract/call/principal.ts';
import type { KnownTool, ToolFunction, Viewer } from '../contract/tool/tool-function.ts';
import type { ToolCatalog } from '../ports/registry/tool-catalog.ts';

export interface ToolFilter {
  readonly toolType?: string;
  readonly category?: string;
  readonly tag?: string;
  readonly mode?: InteractionMode;
  /** Of the agent that the list is for. */
  readonly isOffered?: ((fn: ToolFunction) => boolean) | undefined;
}

export function filterFunctions(
  snapshot: ToolSet,
  filter: ToolFilter,
  viewer: Viewer,
): readonly ToolFunction[] {
  const { toolType, category, tag, mode, isOffered } = filter;
  const isShownHere = shownIn(snapshot, viewer);
  return snapshot.functions.filter((fn) => {
    const { metadata } = fn.spec;
    return (
      isShownHere(fn) &&
      (toolType === undefined || fn.spec.toolType === toolType) &&
      (category === undefined || metadata.category === category) &&
      (tag === undefined || metadata.tags.includes(tag)) &&
      (mode === undefined || servesMode(metadata, mode)) &&
      (isOffered === undefined || isOffered(fn))
    );
  });
}

/** Which functions a list for this viewer has. */
export function shownIn(snapshot: ToolSet, viewer: Viewer): (fn: ToolFunction) => boolean {
  if (administers(viewer)) return () => true;
  return ({ name }) => isShown(snapshot.find(name), viewer);
}

/** By own name or by the provider's spelling. Undefined where there is none of this name, or the viewer is not shown it. */
export function findShown(snapshot: ToolSet, name: string, viewer: Viewer): ToolFunction | undefined {
  const tool = snapshot.find(name);
  return administers(viewer) || isShown(tool, viewer) ? tool?.function : undefined;
}

/** Whoever writes declarations sees what is there, callable or not. */
function administers({ principal }: Viewer): boolean {
  return holds(principal, 'specs:write');
}

function isShown(tool: KnownTool | undefined, viewer: Viewer): boolean {
  return tool?.isShownTo?.(viewer) !== false;
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
    cost: metadata.cost ?? 0,
    tags: metadata.tags,
    timeout_ms: spec.timeoutMs,
    disabled,
    deprecated: fn.byAction !== undefined,
  };
}
