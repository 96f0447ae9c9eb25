// The plan executor: an agent proposes steps, a human approves them, and they are a tool of the tenant from then on.
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { isJsonObject, type JsonValue } from '../../contract/json.ts';
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import { whatCallRuns, type ToolFunction } from '../../contract/tool/tool-function.ts';
import type { SpecControl } from '../../ports/registry/spec-control.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';
import { draftPlan, PLAN_TAG, PLAN_TYPE, type DraftedPlan } from './draft-plan.ts';
import { optionsSchema, type PlanOptions } from './options.ts';
import { invalid, nothingDone } from './plan-failures.ts';
import { toolsIn } from './read-plan.ts';

interface Needs {
  readonly specControl: Pick<SpecControl, 'check' | 'put' | 'disable'>;
  readonly log: Log;
  readonly metrics: Metrics;
}

export const planExecutor: ExecutorPlugin<PlanOptions, Needs> = {
  name: PLAN_TYPE,
  summary:
    'Keeps plans that agents propose: steps over other tools, as a tool of their tenant once a human has approved them.',
  optionsSchema,
  create: (needs) => createPlans(needs),
};

const FIELDS = { propose: ['name', 'description', 'steps'], withdraw: ['plan'] } as const;

function createPlans(needs: Needs): Executor<PlanOptions> {
  const plans = new Plans(needs);
  return {
    prepare({ function: fn, options }: ExecutorTarget<PlanOptions>): PreparedFunction {
      const { properties } = fn.inputSchema;
      const missing = FIELDS[options.does].find(
        (name) => !isJsonObject(properties) || !Object.hasOwn(properties, name),
      );
      if (missing !== undefined)
        throw new Error(`does: ${options.does}: the input schema has no property "${missing}".`);
      if (options.does === 'withdraw')
        return { yieldsPlainJson: true, execute: (call) => plans.withdraw(call) };
      if (!fn.spec.metadata.requiresApproval)
        throw new Error(
          'does: propose: a human has to approve each plan: say metadata.requires_approval: true.',
        );
      return {
        yieldsPlainJson: true,
        execute: (call) => plans.keep(call, fn, options),
        // Nobody is asked about what could not be kept.
        check: async (call) => void (await plans.checked(call, options)),
        render: async (call) => (await plans.checked(call, options)).shown,
        callsOf: toolsIn,
      };
    },
  };
}

class Plans {
  readonly #specs: Needs['specControl'];
  readonly #log: Log;
  readonly #count: (event: 'kept' | 'withdrawn' | 'refused') => void;

  constructor({ specControl, log, metrics }: Needs) {
    this.#specs = specControl;
    this.#log = log;
    const counted = metrics.counter(TOOLS_SERIES.ute_plans_total);
    this.#count = (event) => counted.with(event).add();
  }

  /** Throws ToolFailure where it could not be kept as it is. */
  async checked(
    call: ToolCall,
    { max_steps: mostSteps, max_plans: mostPlans }: PlanOptions,
  ): Promise<DraftedPlan> {
    try {
      const tenantId = tenantOf(call);
      const drafted = await draftPlan(call, tenantId, mostSteps);
      const others = call.snapshot.specs.filter(
        (spec) => isPlanOf(tenantId, spec) && spec.name !== drafted.name,
      );
      if (others.length >= mostPlans)
        throw nothingDone('PLANS_FULL', `The tenant has ${mostPlans} plans already: withdraw one first.`);
      await this.#specs.check(drafted.name, drafted.document).catch((error: unknown) => {
        throw ownFaults(error, drafted.name);
      });
      return drafted;
    } catch (error) {
      this.#count('refused');
      throw error;
    }
  }

  async keep(call: ToolCall, fn: ToolFunction, options: PlanOptions): Promise<ToolResult> {
    const approvedFor =
      call.progress.approvedFor ?? (call.phase.kind === 'resume' ? call.phase.admitted.runs : undefined);
    if (approvedFor === undefined)
      throw nothingDone(
        'PLAN_NOT_APPROVED',
        'A human has to approve a plan, and the rules for approvals ask none.',
      );
    const { name, document } = await this.checked(call, options);
    // What was looked at just now is what was approved.
    if ((await whatCallRuns(call, fn)) !== approvedFor)
      throw nothingDone(
        'PLAN_OUTDATED',
        'A tool of the plan has changed since it was approved: propose it again.',
      );
    const by = call.principal?.id ?? '';
    const note = `a plan, proposed by ${call.context.agentId ?? by} and approved, call ${call.id}`;
    const { inForce, changed } = await this.#specs.put(name, document, { by, note });
    this.#count('kept');
    this.#log.info(
      { plan: name, tenant: tenantOf(call), by, callId: call.id, inForce },
      'a plan was kept as a tool',
    );
    return { data: { tool: name, in_force: inForce, changed } };
  }

  async withdraw(call: ToolCall): Promise<ToolResult> {
    const { plan: name } = call.arguments;
    const tenantId = tenantOf(call);
    const found = call.snapshot.specs.find((spec) => spec.name === name && isPlanOf(tenantId, spec));
    if (found === undefined)
      throw nothingDone('TOOL_NOT_FOUND', 'There is no plan of this name.', { origin: 'tool' });
    const by = call.principal?.id ?? '';
    await this.#specs.disable(found.name, { by, note: `withdrawn, call ${call.id}` });
    this.#count('withdrawn');
    this.#log.info({ plan: found.name, tenant: tenantId, by, callId: call.id }, 'a plan was withdrawn');
    return { data: { withdrawn: found.name } };
  }
}

function isPlanOf(tenantId: string, { metadata, toolType }: ToolFunction['spec']): boolean {
  const { tenants = [], tags } = metadata;
  return (
    toolType === 'composite' && tags.includes(PLAN_TAG) && tenants.length === 1 && tenants[0] === tenantId
  );
}

/** Throws ToolFailure: a plan belongs to somebody. */
function tenantOf({ principal }: ToolCall): string {
  const tenantId = principal?.tenantId ?? '';
  if (tenantId === '')
    throw nothingDone('TENANT_REQUIRED', 'A plan belongs to a tenant, and this call is of none.');
  return tenantId;
}

/** What is wrong with other tools is not said to whoever proposes a plan. */
function ownFaults(error: unknown, name: string): unknown {
  if (!(error instanceof ToolFailure) || !isReason(error, 'SPEC_INVALID')) return error;
  const { problems } = error.details;
  const own = (Array.isArray(problems) ? problems.filter(isJsonObject) : []).filter(
    ({ tool }) => tool === name,
  );
  if (own.length === 0)
    return nothingDone(
      'PLANS_UNAVAILABLE',
      'The tools in force cannot be added to now: an operator has to mend them.',
    );
  return invalid(own.map(({ path, message }) => ({ pointer: `/${pathOf(path)}`, message: textOf(message) })));
}

function pathOf(path: unknown): string {
  return typeof path === 'string' ? path.replace(/^implementation_config\./, '').replaceAll('.', '/') : '';
}

function textOf(message: JsonValue | undefined): string {
  return typeof message === 'string' ? message : 'is not as it must be';
}
