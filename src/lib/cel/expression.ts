// A CEL expression, compiled at load: checked against the types of its variables, its patterns compiled, its cost known.
import { celEnv, celMethod, CelScalar, isCelError, parse, plan } from '@bufbuild/cel';
import { HERE, renewBudget, spend } from '../json-schema/work-budget.ts';
import { compilePattern } from '../json-schema/re2-engine.ts';
import { checkExpression, type Checked, type Parsed } from './check-expression.ts';
import { MOST_STEPS } from './cost.ts';
import type { CelType } from './cel-type.ts';
import { ExpressionFault } from './expression-fault.ts';
import { NO_NUMBER, NUMBERS_OF_TEXT } from './numbers-of-text.ts';
import { sizeOf } from './input-size.ts';

export const MAX_EXPRESSION_LENGTH = 2_000;
/** Brackets that may stand in one another: the parser goes down with each. */
const MOST_BRACKETS = 50;
/** Characters that are compared in the time of one step of the budget. */
const COMPARED_A_STEP = 16;

export type Outcome = { readonly value: boolean } | { readonly error: string };
export type Values = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Of one decision, which may ask several expressions: begun anew for each. */
export class EvaluationBudget {
  steps = MOST_STEPS;

  static begin(): EvaluationBudget {
    renewBudget(HERE);
    return new EvaluationBudget();
  }
}

const { STRING, BOOL, DYN } = CelScalar;
const compares = (text: string, part: string) =>
  spend(1 + Math.ceil((text.length * Math.max(1, part.length)) / COMPARED_A_STEP));

/** What is wrong with an expression, if anything. */
export function faultOfExpression(text: string, variables: ReadonlyMap<string, CelType>): string | undefined {
  try {
    void new Expression(text, variables);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export class Expression {
  readonly text: string;
  readonly #plan: (values: Record<string, unknown>) => unknown;
  readonly #checked: Checked;
  readonly #variables: ReadonlyMap<string, CelType>;
  readonly #uses: readonly Use[];

  /** Throws ExpressionFault. */
  constructor(text: string, variables: ReadonlyMap<string, CelType>) {
    this.text = text;
    this.#variables = variables;
    const parsed = parsedOf(text);
    this.#checked = checkExpression(parsed, variables, compilePattern);
    this.#uses = usesOf(this.#checked, variables);
    const env = celEnv({
      variables: Object.fromEntries([...variables.keys()].map((name) => [name, DYN])),
      funcs: [
        celMethod('contains', STRING, [STRING], BOOL, function contains(part) {
          compares(this, part);
          return this.includes(part);
        }),
        ...NUMBERS_OF_TEXT,
      ],
      re2: { compile: (pattern) => compilePattern(pattern) },
    });
    this.#plan = plan(env, parsed.expr) as (values: Record<string, unknown>) => unknown;
  }

  /** Never throws, and takes its part of the budget. Only `true` and `false` are values: all else is an error. */
  evaluate(values: Values, budget: EvaluationBudget): Outcome {
    // Errors are ordinary answers here; where they came from in the library helps nobody and takes long to find out.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      const tooMuch = this.#pay(values, budget);
      if (tooMuch !== undefined) return { error: tooMuch };
      const value = this.#plan(this.#bound(values));
      if (typeof value === 'boolean') return { value };
      return {
        error: isCelError(value) ? kindOfError(value.message) : 'the result is neither true nor false',
      };
    } catch (error) {
      return { error: kindOfError((error as Error).message) };
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  #pay(values: Values, budget: EvaluationBudget): string | undefined {
    const { cost } = this.#checked;
    let steps = cost.fixed;
    if (steps === undefined || this.#looksInside()) {
      const size = sizeOf(this.#uses.map(({ name, field }) => partOf(values[name], field)));
      if (size === undefined) return TOO_LARGE;
      steps = cost.of(size);
    }
    budget.steps -= steps;
    return budget.steps < 0 ? TOO_LARGE : undefined;
  }

  /** True where what is bound may be large. */
  #looksInside(): boolean {
    return this.#uses.some(({ isScalar }) => !isScalar);
  }

  #bound(values: Values): Record<string, unknown> {
    const bound: Record<string, unknown> = {};
    for (const name of this.#variables.keys()) bound[name] = EMPTY;
    for (const { name, field, type } of this.#uses) {
      const value = values[name] ?? {};
      if (field === undefined) bound[name] = bindAs(type, value);
      else if (Object.hasOwn(value, field)) {
        if (bound[name] === EMPTY) bound[name] = new Map();
        (bound[name] as Map<string, unknown>).set(field, bindAs(type, value[field]));
      }
    }
    return bound;
  }
}

const EMPTY: ReadonlyMap<string, unknown> = new Map();
const TOO_LARGE = 'the arguments are too large for this expression';

interface Use {
  readonly name: string;
  /** Undefined: all of it. */
  readonly field: string | undefined;
  readonly type: Bindable;
  readonly isScalar: boolean;
}

type Bindable = CelType & { bind?(value: unknown): unknown };

function usesOf({ uses }: Checked, variables: ReadonlyMap<string, CelType>): readonly Use[] {
  const use = (name: string, field?: string): Use => {
    const variable = variables.get(name) ?? { kind: 'dyn' };
    const type: CelType = (field === undefined ? variable : variable.field?.(field)) ?? { kind: 'dyn' };
    const isScalar = type.kind !== 'dyn' && type.kind !== 'list' && type.kind !== 'map';
    return { name, field, type, isScalar };
  };
  const whole = [...uses.whole].map((name) => use(name));
  const parts = [...uses.fields].filter(([name]) => !uses.whole.has(name));
  return [...whole, ...parts.flatMap(([name, fields]) => [...fields].map((field) => use(name, field)))];
}

function partOf(value: Readonly<Record<string, unknown>> | undefined, field: string | undefined): unknown {
  if (field === undefined || value === undefined) return value ?? null;
  return Object.hasOwn(value, field) ? (value[field] ?? null) : null;
}

function bindAs(type: Bindable, value: unknown): unknown {
  return type.bind === undefined ? plain(value) : type.bind(value);
}

/** What the gateway itself gives: texts, flags, lists of texts, and objects of these. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value : new Map(Object.entries(value));
}

function parsedOf(text: string): Parsed {
  if (text.length > MAX_EXPRESSION_LENGTH)
    throw new ExpressionFault(`is longer than ${MAX_EXPRESSION_LENGTH} characters`);
  let open = 0;
  for (const character of text) {
    if ('([{'.includes(character)) open += 1;
    if (open > MOST_BRACKETS) throw new ExpressionFault(`has more than ${MOST_BRACKETS} brackets`);
  }
  try {
    return parse(text);
  } catch (error) {
    const { rawMessage, location } = error as {
      rawMessage?: string;
      location?: { start?: { offset?: number } };
    };
    const offset = location?.start?.offset;
    const why = rawMessage ?? 'it is nested too deep';
    throw new ExpressionFault(`is no CEL expression: ${why}`, offset === undefined ? undefined : offset + 1);
  }
}

/** The library's own messages hold what the caller wrote: none is passed on, but for its beginning where that is known. */
const KNOWN_ERRORS: readonly string[] = [
  'field not found',
  'int overflow',
  'int divide by zero',
  'found no matching overload',
  'no such',
  'index out of bounds',
  'checking the value took too many steps',
  'an integer of the arguments has more than 64 bits',
  NO_NUMBER,
];

function kindOfError(message: string): string {
  return KNOWN_ERRORS.find((known) => message.startsWith(known)) ?? 'the evaluation failed';
}
