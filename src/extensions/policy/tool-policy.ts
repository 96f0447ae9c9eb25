// The rules that one function's calls are held to, compiled at load, and what they decide about a call.
import type { OptionFault } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { EvaluationBudget, Expression, faultOfExpression, type Values } from '../../lib/cel/expression.ts';
import { SchemaType } from '../../lib/cel/schema-type.ts';
import type { CelType } from '../../lib/cel/cel-type.ts';
import { globMatcher } from '../../lib/text/glob.ts';
import { VARIABLES, type PolicyOptions, type PolicyRule } from './options.ts';

export type Decision =
  | { readonly kind: 'none' }
  | { readonly kind: 'rule'; readonly rule: PolicyRule }
  | { readonly kind: 'error'; readonly rule: PolicyRule; readonly error: string };

interface CompiledRule {
  readonly rule: PolicyRule;
  readonly isFor: ((tenant: string) => boolean) | undefined;
  /** Undefined: always. */
  readonly when: Expression | undefined;
}

/** What became of each rule, in order; those behind the one that decided were not asked. */
export interface ExplainedDecision {
  readonly decision: Decision;
  readonly rules: readonly { readonly rule: string; readonly outcome: RuleOutcome }[];
}
export type RuleOutcome = 'true' | 'false' | 'error' | 'other tenants' | 'not asked';

const NONE: Decision = { kind: 'none' };
const ALWAYS = { value: true } as const;
/** What stands there where a rule has no `when`. */
const ALWAYS_TRUE = 'true';

export class ToolPolicy {
  readonly #rules: readonly CompiledRule[];
  readonly #tool: Readonly<Record<string, unknown>>;

  /** Undefined where no rule is for the function. Throws Error where one cannot be about its arguments. */
  static of(fn: ToolFunction, options: PolicyOptions): ToolPolicy | undefined {
    refuseMissedByCanary(fn, options);
    const rules = rulesFor(fn, options);
    if (rules.length === 0) return undefined;
    const variables = variablesOf(fn);
    return new ToolPolicy(
      fn,
      rules.map((rule) => compiled(rule, fn, variables)),
    );
  }

  private constructor(fn: ToolFunction, rules: readonly CompiledRule[]) {
    const { metadata } = fn.spec;
    this.#rules = rules;
    this.#tool = {
      name: fn.name,
      version: metadata.version,
      category: metadata.category ?? '',
      risk_level: metadata.riskLevel,
      read_only: metadata.readOnly,
      tags: metadata.tags,
    };
  }

  get rules(): readonly PolicyRule[] {
    return this.#rules.map(({ rule }) => rule);
  }

  /** In order; the first that is true decides, and one that cannot be asked decides, too. */
  decide(call: ToolCall, tell?: (rule: PolicyRule, outcome: RuleOutcome) => void): Decision {
    const tenant = call.principal?.tenantId ?? '';
    const budget = EvaluationBudget.begin();
    let values: Values | undefined;
    for (const { rule, isFor, when } of this.#rules) {
      if (isFor !== undefined && !isFor(tenant)) {
        tell?.(rule, 'other tenants');
        continue;
      }
      const outcome =
        when === undefined ? ALWAYS : when.evaluate((values ??= valuesOf(call, this.#tool)), budget);
      if ('error' in outcome) {
        tell?.(rule, 'error');
        return { kind: 'error', rule, error: outcome.error };
      }
      tell?.(rule, outcome.value ? 'true' : 'false');
      if (outcome.value) return { kind: 'rule', rule };
    }
    return NONE;
  }

  /** The same decision, with the way to it. */
  explain(call: ToolCall): ExplainedDecision {
    const outcomes = new Map<PolicyRule, RuleOutcome>();
    const decision = this.decide(call, (rule, outcome) => outcomes.set(rule, outcome));
    const rules = this.rules.map((rule) => ({
      rule: rule.name,
      outcome: outcomes.get(rule) ?? ('not asked' as const),
    }));
    return { decision, rules };
  }
}

/** Of which tenants a rule refuses every call, whatever its arguments are. Undefined: of none. */
export function refusedTenants(
  fn: ToolFunction,
  options: PolicyOptions,
): ((tenant: string) => boolean) | undefined {
  const rules = rulesFor(fn, options);
  if (!rules.some(refusesAlways)) return undefined;
  const known = rules.map((rule) => ({ rule, isFor: globMatcher(rule.tenants ?? ['*']) }));
  return (tenant) => {
    const ofTenant = known.filter(({ isFor }) => isFor(tenant)).map(({ rule }) => rule);
    const decides = ofTenant.find(({ when, decision }) => when === ALWAYS_TRUE || decision !== 'deny');
    return decides !== undefined && refusesAlways(decides);
  };
}

function refusesAlways({ when, decision }: PolicyRule): boolean {
  return when === ALWAYS_TRUE && decision === 'deny';
}

/** What a tool says of policies that only gateway.yaml may say, or that is not about its arguments. */
export function faultsOfPolicy(fn: ToolFunction, { tool_rules: own }: PolicyOptions): readonly OptionFault[] {
  if (fn.spec.extensions['policy']?.['rules'] !== undefined)
    return [
      { path: ['rules'], message: 'belongs into gateway.yaml: a tool has tool_rules, asked after those' },
    ];
  const variables = variablesOf(fn);
  return own.flatMap(({ when }, index) => {
    const message = faultOfExpression(when, variables);
    return message === undefined ? [] : [{ path: ['tool_rules', index, 'when'], message }];
  });
}

function rulesFor(
  { name, spec }: ToolFunction,
  { rules, tool_rules: own }: PolicyOptions,
): readonly PolicyRule[] {
  const { category = '' } = spec.metadata;
  const ofPlatform = rules.filter(
    (rule) => names(rule, name, spec.name) && globMatcher(rule.categories ?? ['*'])(category),
  );
  return [...ofPlatform, ...own];
}

function names({ tools = ['*'] }: PolicyRule, ...either: readonly string[]): boolean {
  return either.some(globMatcher(tools));
}

/** A share of the calls would get round such a rule: those that the canary takes in the tool's place. */
function refuseMissedByCanary({ name, spec }: ToolFunction, { rules }: PolicyOptions): void {
  const canary = spec.canary?.tool;
  if (canary === undefined) return;
  const itsName = canary + name.slice(spec.name.length);
  const missed = rules.find((rule) => names(rule, name, spec.name) && !names(rule, itsName, canary));
  if (missed !== undefined)
    throw new Error(
      `the policy rule "${missed.name}" is for ${name} and not for ${itsName}, its canary: let tools match both`,
    );
}

function variablesOf({ inputSchema }: ToolFunction): ReadonlyMap<string, CelType> {
  const args = new SchemaType({ type: 'object', allOf: [inputSchema] }, inputSchema);
  return new Map<string, CelType>([['args', args], ...Object.entries(VARIABLES)]);
}

function compiled(rule: PolicyRule, fn: ToolFunction, variables: ReadonlyMap<string, CelType>): CompiledRule {
  const { tenants, when, name } = rule;
  const isFor = tenants === undefined ? undefined : globMatcher(tenants);
  if (when === ALWAYS_TRUE) return { rule, isFor, when: undefined };
  try {
    return { rule, isFor, when: new Expression(when, variables) };
  } catch (error) {
    throw new Error(`the policy rule "${name}" does not fit ${fn.name}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Whatever a caller may leave out is an empty text: a rule about it is true or false, and no error. */
function valuesOf(call: ToolCall, tool: Values[string]): Values {
  const { context, principal } = call;
  return {
    args: call.arguments,
    context: {
      mode: context.mode ?? '',
      agent_id: context.agentId ?? '',
      user_id: context.userId ?? '',
      tenant_id: context.tenantId ?? '',
      session_id: context.sessionId ?? '',
      dry_run: context.dryRun === true,
    },
    caller: {
      id: principal?.id ?? '',
      tenant_id: principal?.tenantId ?? '',
      user_id: principal?.userId ?? '',
      roles: principal?.roles ?? [],
    },
    tool,
  };
}
