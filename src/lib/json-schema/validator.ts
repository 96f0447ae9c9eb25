// Validators: a schema compiled at its first use, which tells what does not fit without repeating the value.
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { dialectOf, newSchemaAjv } from './ajv-instance.ts';
import { checkingWork, type CheckingWork } from './lint/checking-work.ts';
import { int64PlacesOf, takeIntegers, type Int64Places } from './int64-places.ts';
import { withBigIntegers } from './int64-schema.ts';
import { schemaGraph } from './lint/schema-graph.ts';
import { countTokens } from './lint/schema-size.ts';
import { hintsFor } from './unexpected-member.ts';
import { unexpectedName, violationOf, type Violation } from './violation.ts';
import { HERE, IN_THREAD, renewBudget, WorkBudgetError } from './work-budget.ts';

export type { Violation } from './violation.ts';

export interface Validator {
  /** Empty: the value fits. Fills in and drops inside of `value`, so pass a copy where `changesValue` is true. */
  validate(value: unknown): readonly Violation[];
  /** The same on the event loop: undefined where it would hold the loop for long. `value` may be changed even then. */
  validateHere(value: unknown): readonly Violation[] | undefined;
  /** Compiles all that any value may need, instead of at the first one that does. */
  compile(): void;
  /** Whether it fills in defaults, or drops members. */
  readonly changesValue: boolean;
}

export interface ValidatorOptions {
  /** Members at the root that the schema does not expect are taken out of the value, instead of being violations. */
  readonly dropsUnexpected?: boolean;
  /**
   * Digits as text for an int64 become a number where a double holds it; else the value is left as it came. A larger one
   * stays text either way.
   */
  readonly readsIntegers?: boolean;
}

const MAX_VIOLATIONS = 20;
/** Errors that Ajv may pile up for one value while it looks for all of them, and of which violations are made. */
const MAX_ERRORS = { here: 5_000, thread: 100_000 };
const MAX_READ = 200;
const FITS: readonly Violation[] = Object.freeze([]);
/** What is said where a check that has nowhere else to run would take too long. */
export const TOO_COSTLY: readonly Violation[] = Object.freeze([
  Object.freeze({ pointer: '', message: 'takes too long to be checked' }),
]);

type Where = keyof typeof MAX_ERRORS;

/** The schema must have passed lintSchema. Nothing is compiled before the first value. */
export function createValidator(
  schema: object,
  { dropsUnexpected = false, readsIntegers = false }: ValidatorOptions = {},
): Validator {
  const compiled = new CompiledSchema(schema, dropsUnexpected, readsIntegers);
  return {
    changesValue:
      dropsUnexpected || fillsDefaults(schema) || (readsIntegers && compiled.integers !== undefined),
    compile: () => compiled.compile(),
    validate: (value) => compiled.check(value, 'thread') ?? TOO_COSTLY,
    validateHere: (value) => (compiled.work.isCostly(value) ? undefined : compiled.check(value, 'here')),
  };
}

class CompiledSchema {
  readonly #schema: object;
  readonly #dropsUnexpected: boolean;
  #work: CheckingWork | undefined;
  #decide: ValidateFunction | undefined;
  /** Goes on after the first error. Made at the first value that does not fit. */
  #explain: ValidateFunction | undefined;

  /** Undefined: the schema has no integers of 64 bits. */
  readonly integers: Int64Places | undefined;
  readonly #readsIntegers: boolean;

  constructor(schema: object, dropsUnexpected: boolean, readsIntegers: boolean) {
    this.#schema = schema;
    this.#dropsUnexpected = dropsUnexpected;
    this.#readsIntegers = readsIntegers;
    this.integers = int64PlacesOf(schema);
  }

  get work(): CheckingWork {
    return (this.#work ??= checkingWork(this.#schema));
  }

  /** Undefined: the patterns, formats and comparisons take more than the loop can spare. */
  check(value: unknown, where: Where): readonly Violation[] | undefined {
    if (this.integers === undefined) return this.#check(value, where);
    const taken = takeIntegers(this.integers, value, this.#readsIntegers);
    try {
      return this.#check(taken.value, where);
    } finally {
      taken.giveBack();
    }
  }

  compile(): void {
    this.#decide ??= this.#compile(false);
    this.#explain ??= this.#compile(true);
  }

  #check(value: unknown, where: Where): readonly Violation[] | undefined {
    this.#decide ??= this.#compile(false);
    try {
      if (passes(this.#decide, value, where)) return FITS;
      const explained = this.#explained(value, where);
      // Told before anything is dropped: this speaks of the value as it came.
      const violations = this.#violationsOf(explained ?? this.#decide, value);
      const dropped = this.#dropsUnexpected && explained !== undefined && dropUnexpected(explained, value);
      return dropped && passes(this.#decide, value, where) ? FITS : violations;
    } catch (error) {
      if (where === 'here' && error instanceof WorkBudgetError) return undefined;
      return [{ pointer: '', message: messageOf(error) }];
    }
  }

  /** All errors are worth having, but only where they are bound to be few: a hostile value has thousands. */
  #explained(value: unknown, where: Where): ValidateFunction | undefined {
    const maxParts = Math.floor(MAX_ERRORS[where] / this.work.errorsPerPart);
    if (countTokens(value, maxParts) >= maxParts) return undefined;
    this.#explain ??= this.#compile(true);
    return passes(this.#explain, value, where) ? undefined : this.#explain;
  }

  #compile(allErrors: boolean): ValidateFunction {
    return this.integers === undefined
      ? compile(this.#schema, allErrors, false)
      : compile(withBigIntegers(this.#schema), allErrors, true);
  }

  #violationsOf({ errors }: ValidateFunction, value: unknown): Violation[] {
    const hints = hintsFor(this.#schema, value);
    const distinct = new Map<string, Violation>();
    const told = (errors ?? []).filter((error) => !(this.#dropsUnexpected && isUnexpectedAtRoot(error)));
    for (const error of told.slice(0, MAX_READ)) {
      const violation = violationOf(error, value, hints(error));
      distinct.set(`${violation.pointer} ${violation.message}`, violation);
      if (distinct.size === MAX_VIOLATIONS) break;
    }
    return distinct.size > 0 ? [...distinct.values()] : [{ pointer: '', message: 'does not fit the schema' }];
  }
}

const BUDGETS = { here: HERE, thread: IN_THREAD };

function passes(check: ValidateFunction, value: unknown, where: Where): boolean {
  renewBudget(BUDGETS[where]);
  // Not merely truthy: an asynchronous check would answer with a promise.
  return check(value) === true;
}

function isUnexpectedAtRoot(error: ErrorObject): boolean {
  return error.instancePath === '' && unexpectedName(error) !== undefined;
}

/** True where there was one at the root. */
function dropUnexpected({ errors }: ValidateFunction, value: unknown): boolean {
  const unexpected = (errors ?? []).filter(isUnexpectedAtRoot);
  for (const error of unexpected) Reflect.deleteProperty(value as object, unexpectedName(error) ?? '');
  return unexpected.length > 0;
}

/** What a value can cause that is no violation of a keyword. Anything else is a fault of ours, and thrown. */
function messageOf(error: unknown): string {
  if (error instanceof WorkBudgetError) return 'is too long for what it must be matched or compared with';
  if (error instanceof RangeError) return 'is nested too deeply to be checked';
  throw error;
}

/**
 * An instance of Ajv, and so each function it compiled, holds on to all that it ever compiled. A few schemas
 * share one, then the next is begun: a dropped schema goes when its few neighbours go.
 */
const SCHEMAS_PER_INSTANCE = 32;
const instances = new Map<string, { readonly ajv: Ajv; compiled: number }>();

function compile(schema: object, allErrors: boolean, bigIntegers: boolean): ValidateFunction {
  const dialect = dialectOf(schema) ?? '2020-12';
  const key = `${dialect} ${allErrors} ${bigIntegers}`;
  let instance = instances.get(key);
  if (instance === undefined || instance.compiled === SCHEMAS_PER_INSTANCE) {
    instance = { ajv: newSchemaAjv(dialect, allErrors, bigIntegers), compiled: 0 };
    instances.set(key, instance);
  }
  instance.compiled += 1;
  return instance.ajv.compile(withoutNames(schema));
}

/**
 * Nothing refers to a tool's schema, or to a part of it, by a name; and a name like the meta-schema's, or two alike, would lead
 * references astray.
 */
function withoutNames(schema: object): object {
  const copy: { $id?: unknown } = { ...withoutAnchors(schema) };
  delete copy.$id;
  return copy;
}

const NO_LIMITS = { depth: Infinity, nesting: Infinity, nodes: Infinity };

function withoutAnchors(schema: object): object {
  if (!JSON.stringify(schema).includes('"$anchor"')) return schema;
  const copy = structuredClone(schema);
  for (const node of schemaGraph(copy, NO_LIMITS).nodes) {
    const own: { $anchor?: unknown } = node.schema;
    delete own.$anchor;
  }
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
