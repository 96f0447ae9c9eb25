// AssignedVersions: which version of a tool a call is held to where its user, its agent or its tenant is assigned one.
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { AssignedTo } from '../../contract/call/version-source.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { KnownAssignments, ToolAssignments } from '../../ports/assignments/known-assignments.ts';

interface Whose {
  readonly tenantId: string;
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
}

export class AssignedVersions {
  readonly #known: KnownAssignments;

  constructor(known: KnownAssignments) {
    this.#known = known;
  }

  /** The call as one that names the version; the same one where it names one already, or nothing is assigned. */
  hold(call: ToolCall, { spec }: ToolFunction): ToolCall {
    const { context, progress } = call;
    if (context.toolVersion !== undefined) {
      progress.versionSource ??= admittedSource(call) ?? 'call';
      return call;
    }
    if (this.#known.isEmpty || isDecided(call)) return call;
    const found = this.#find(call, spec.name);
    if (found === undefined) return call;
    // A session that runs the version in force has it from here: then none is on trial in its place.
    if (progress.versionSource !== undefined && found.contentHash !== spec.contentHash) return call;
    progress.versionSource ??= found.to;
    return { ...call, context: { ...context, toolVersion: found.contentHash } };
  }

  /** What a session of theirs begins with, by tool. */
  ofSession({ tenantId, agentId, userId }: Whose): ReadonlyMap<string, string> {
    const tools = [...(this.#known.ofTenant(tenantId) ?? [])];
    const found = tools.map(
      ([tool, ofTool]) => [tool, narrowest(ofTool, agentId, userId)?.contentHash] as const,
    );
    return new Map(found.filter((each): each is [string, string] => each[1] !== undefined));
  }

  #find({ principal, context }: ToolCall, tool: string) {
    const { tenantId = context.tenantId ?? '' } = principal ?? {};
    const ofTool = this.#known.ofTenant(tenantId)?.get(tool);
    return ofTool && narrowest(ofTool, context.agentId, context.userId);
  }
}

/** Of a user, then of an agent, then of the tenant. */
export function narrowest(
  { users, agents, tenant }: ToolAssignments,
  agentId: string | undefined,
  userId: string | undefined,
): { readonly to: AssignedTo; readonly contentHash: string } | undefined {
  const ofUser = userId === undefined ? undefined : users.get(userId);
  if (ofUser !== undefined) return { to: 'user', contentHash: ofUser };
  const ofAgent = agentId === undefined ? undefined : agents.get(agentId);
  if (ofAgent !== undefined) return { to: 'agent', contentHash: ofAgent };
  return tenant === undefined ? undefined : { to: 'tenant', contentHash: tenant };
}

/** When it was accepted: what was assigned then holds, and so does that nothing was. */
function isDecided({ phase, request }: ToolCall): boolean {
  return phase.kind === 'resume' && request.parent === undefined && phase.admitted.keepsVersion === true;
}

function admittedSource({ phase }: ToolCall) {
  return phase.kind === 'resume' ? phase.admitted.versionSource : undefined;
}
