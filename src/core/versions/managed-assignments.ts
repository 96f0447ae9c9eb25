// ManagedAssignments: AssignmentControl over the database. What may be assigned, and by whom, is decided here, for every way to ask.
import { toolFailure } from '../../contract/call/failure.ts';
import { holds, type Principal } from '../../contract/call/principal.ts';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { functionsOf } from '../../contract/tool/tool-function.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import type { AssignmentControl, AssignmentWho } from '../../ports/assignments/assignment-control.ts';
import type {
  AssignmentBounds,
  AssignmentKey,
  AssignmentRecord,
  AssignmentStore,
  NotChanged,
} from '../../ports/assignments/assignment-store.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import type { ToolVersions } from '../../ports/registry/tool-versions.ts';
import { PLATFORM, tenantAsked } from '../tenant-asked.ts';

export interface ManagedAssignmentsNeeds {
  readonly store: AssignmentStore;
  readonly catalog: Pick<ToolCatalog, 'snapshot'>;
  readonly versions: ToolVersions;
  /** Makes a change be in force here. Never rejects. */
  readonly changed: () => Promise<void>;
}

/** Every replica holds them in memory: a tenant that takes all it may leaves room for others. */
const BOUNDS: AssignmentBounds = { perTenant: 2_000, inAll: 20_000 };

type Version = Pick<AssignmentRecord, 'contentHash' | 'version'>;

export class ManagedAssignments implements AssignmentControl {
  readonly #needs: ManagedAssignmentsNeeds;

  constructor(needs: ManagedAssignmentsNeeds) {
    this.#needs = needs;
  }

  async list(
    by: Principal,
    { tenant, ...query }: Parameters<AssignmentControl['list']>[1],
  ): Promise<readonly AssignmentRecord[]> {
    const tenantId = tenantAsked(by, tenant, WHAT);
    return this.#needs.store.list({ ...query, tenantId, agents: agentsOf(by) });
  }

  async get(by: Principal, who: AssignmentWho): Promise<AssignmentRecord> {
    const found = await this.#needs.store.get(keyOf(by, who));
    if (found === undefined) throw notAssigned();
    return found;
  }

  async assign(
    by: Principal,
    who: AssignmentWho,
    { version: wanted, reason }: { readonly version: string; readonly reason: string },
    ifRevision: number | undefined,
  ): Promise<AssignmentRecord> {
    const key = keyOf(by, who);
    const version = await this.#versionOf(by, key.tool, wanted);
    const draft = { ...key, ...version, reason, assignedBy: by.id };
    return this.#done(await this.#needs.store.put(draft, BOUNDS, ifRevision));
  }

  async unassign(
    by: Principal,
    who: AssignmentWho,
    ifRevision: number | undefined,
  ): Promise<AssignmentRecord> {
    return this.#done(await this.#needs.store.delete(keyOf(by, who), ifRevision));
  }

  /** Built once here, as for a call: what is assigned can run. Throws ToolFailure. */
  async #versionOf(by: Principal, tool: string, wanted: string): Promise<Version> {
    const { catalog, versions } = this.#needs;
    const snapshot = catalog.snapshot();
    const spec = specFor(by, snapshot, tool);
    if (spec.foreign !== undefined)
      throw toolFailure(
        'VERSION_GONE',
        'Only the version in force of this tool can be called: somebody else defines it.',
      );
    const { contentHash, metadata } = spec;
    if (wanted === contentHash || wanted === metadata.version)
      return { contentHash, version: metadata.version };
    let gone: unknown;
    for (const fn of functionsOf(spec)) {
      try {
        const borrowed = await versions.take(fn, wanted);
        borrowed.release();
        const { spec: found } = borrowed.tool.function;
        return { contentHash: found.contentHash, version: found.metadata.version };
      } catch (error) {
        // An action that it did not have yet says nothing of the others.
        if (!(error instanceof ToolFailure && isReason(error, 'VERSION_GONE'))) throw error;
        gone = error;
      }
    }
    throw gone;
  }

  async #done(made: AssignmentRecord | NotChanged): Promise<AssignmentRecord> {
    if (made === 'missing') throw notAssigned();
    if (made === 'conflict')
      throw toolFailure('VERSION_CONFLICT', 'It was changed meanwhile: look at it again.');
    if (made === 'full') throw full();
    await this.#needs.changed();
    return made;
  }
}

const WHAT = 'Assigned versions';

function keyOf(by: Principal, { tenant, kind, subject, tool }: AssignmentWho): AssignmentKey {
  const tenantId = tenantAsked(by, tenant ?? (kind === 'tenant' ? subject : undefined), WHAT);
  if (kind === 'tenant' && subject !== tenantId)
    throw toolFailure(
      'TENANT_MISMATCH',
      `The assignment of a tenant is its own: "${subject}" is not "${tenantId}".`,
      {
        details: { field: 'subject' },
      },
    );
  const agents = agentsOf(by);
  if (agents !== undefined && !(kind === 'agent' && agents.includes(subject)))
    throw toolFailure(
      'AGENT_MISMATCH',
      `The credential that asks may speak for ${agents.join(', ')}, and assigns nothing to anybody else.`,
      { details: { field: 'subject' } },
    );
  return { tenantId, kind, subject, tool };
}

/** Undefined: any of the tenant. */
function agentsOf({ agents }: Principal): readonly string[] | undefined {
  return agents.includes('*') ? undefined : agents;
}

/** A tool that whoever asks is not shown is not there for them. */
function specFor(principal: Principal, snapshot: ToolSet, name: string): ToolSpec {
  const spec = snapshot.specs.find((each) => each.name === name);
  const isShown = (known: ReturnType<ToolSet['find']>) => known?.isShownTo?.({ principal }) ?? true;
  if (spec !== undefined) {
    const shown = functionsOf(spec).some((fn) => isShown(snapshot.find(fn.name)));
    if (shown || holds(principal, PLATFORM)) return spec;
  }
  const message =
    'There is no tool of this name in force. What is assigned is a version of a tool, not of one of its actions.';
  throw toolFailure('TOOL_NOT_FOUND', message, { details: { field: 'tool' } });
}

function notAssigned(): ToolFailure {
  return toolFailure('ASSIGNMENT_NOT_FOUND', 'No version of this tool is assigned to them: PUT assigns one.');
}

function full(): ToolFailure {
  const message = `A tenant has at most ${BOUNDS.perTenant} assigned versions: delete some.`;
  return toolFailure('ASSIGNMENTS_FULL', message, { retryable: false });
}
