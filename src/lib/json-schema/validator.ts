// Validators: a schema compiled at its first use, which tells what does not fit without repeating the value.
import type { Ajv, ValidateFunction } from 'ajv';
import { dialectOf, newSchemaAjv } from './ajv-instance.ts';
import { PatternBudgetError, renewPatternBudget } from './re2-engine.ts';
import { checkingCosts, innermostFirst } from './schema-cost.ts';
import { schemaGraph } from './schema-graph.ts';
import { countTokens } from './schema-size.ts';
import { violationOf, type Violation } from './violation.ts';

export type { Violation } from './violation.ts';

export interface Validator {
  /** Empty: the value fits. Fills missing defaults into `value`, so pass a copy where `fillsDefaults` is true. */
  validate(value: unknown): readonly Violation[];
  readonly fillsDefaults: boolean;
}

const MAX_VIOLATIONS = 20;
/** Errors that Ajv may pile up for one value while it looks for all of them. */
const MAX_ERRORS = 100_000;
const NO_LIMITS = { depth: Infinity, nesting: Infinity, nodes: Infinity };
const FITS: readonly Violation[] = Object.freeze([]);

/** The schema must have passed lintSchema. Nothing is compiled before the first `validate`. */
export function createValidator(schema: object): Validator {
  let decide: ValidateFunction | undefined;
  let explain: Explanation | undefined;
  return {
    fillsDefaults: fillsDefaults(schema),
    validate(value) {
      decide ??= compile(schema, false);
      try {
        if (passes(decide, value)) return FITS;
        explain ??= explanationOf(schema);
        // All errors are worth having, but only where they are bound to be few: a hostile value has thousands.
        const all =
          countTokens(value, explain.maxTokens) < explain.maxTokens && !passes(explain.check, value);
        return violationsOf(all ? explain.check : decide, value);
      } catch (error) {
        return [{ pointer: '', message: messageOf(error) }];
      }
    },
  };
}

/** A second compilation, which goes on after the first error. Made at the first value that does not fit. */
interface Explanation {
  readonly check: ValidateFunction;
  readonly maxTokens: number;
}

function explanationOf(schema: object): Explanation {
  const { nodes } = schemaGraph(schema, NO_LIMITS);
  const { order } = innermostFirst(nodes, ({ same }) => same);
  const [root] = nodes;
  const cost = (root && checkingCosts(order, MAX_ERRORS).get(root)) ?? 1;
  return { check: compile(schema, true), maxTokens: Math.floor(MAX_ERRORS / cost) };
}

function passes(check: ValidateFunction, value: unknown): boolean {
  renewPatternBudget();
  // Not merely truthy: an asynchronous check would answer with a promise.
  return check(value) === true;
}

function violationsOf({ errors }: ValidateFunction, value: unknown): Violation[] {
  const distinct = new Map<string, Violation>();
  for (const error of errors ?? []) {
    const violation = violationOf(error, value);
    distinct.set(`${violation.pointer} ${violation.message}`, violation);
    if (distinct.size === MAX_VIOLATIONS) break;
  }
  return distinct.size > 0 ? [...distinct.values()] : [{ pointer: '', message: 'does not fit the schema' }];
}

/** What a value can cause that is no violation of a keyword. Anything else is a fault of ours, and thrown. */
function messageOf(error: unknown): string {
  if (error instanceof PatternBudgetError) return 'is too long for the patterns that it must match';
  if (error instanceof RangeError) return 'is nested too deeply to be checked';
  // Ajv compares objects for enum, const and uniqueItems by calling these, whatever they are.
  if (error instanceof TypeError)
    return 'cannot be compared: it may have a member called "valueOf" or "toString"';
  throw error;
}

/**
 * An instance of Ajv, and so each function it compiled, holds on to all that it ever compiled. A few schemas
 * share one, then the next is begun: a dropped schema goes when its few neighbours go.
 */
const SCHEMAS_PER_INSTANCE = 32;
const instances = new Map<string, { readonly ajv: Ajv; compiled: number }>();

function compile(schema: object, allErrors: boolean): ValidateFunction {
  const dialect = dialectOf(schema) ?? '2020-12';
  const key = `${dialect} ${allErrors}`;
  let instance = instances.get(key);
  if (instance === undefined || instance.compiled === SCHEMAS_PER_INSTANCE) {
    instance = { ajv: newSchemaAjv(dialect, allErrors), compiled: 0 };
    instances.set(key, instance);
  }
  instance.compiled += 1;
  return instance.ajv.compile(withoutId(schema));
}

/** Nothing refers to a tool's schema by name, and a name like the meta-schema's would lead references astray. */
function withoutId(schema: object): object {
  if (!('$id' in schema)) return schema;
  const copy: { $id?: unknown } = { ...schema };
  delete copy.$id;
  return copy;
}

/** Whether a `default` stands where Ajv fills it in. True too often only costs a copy. */
function fillsDefaults(schema: object): boolean {
  const seen = new Set<object>([schema]);
  for (const current of seen) {
    for (const [keyword, value] of Object.entries(current)) {
      if (typeof value !== 'object' || value === null) continue;
      if (HOLDS_DEFAULTS.has(keyword) && Object.values(value as object).some(hasDefault)) return true;
      seen.add(value as object);
    }
  }
  return false;
}

const HOLDS_DEFAULTS = new Set(['properties', 'items', 'prefixItems']);

function hasDefault(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && Object.hasOwn(schema, 'default');
}
