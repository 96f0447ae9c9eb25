// Walks an expression at load: each name, field, function and type that it uses, and what one evaluation can cost.
import type { parse } from '@bufbuild/cel';
import { BOOL, DYN, INT, NULL, STRING, type CelKind, type CelType, DOUBLE, listOf } from './cel-type.ts';
import { Cost } from './cost.ts';
import { ExpressionFault } from './expression-fault.ts';
import { nameOf, near, shown, unknownFunction } from './fault-words.ts';
import { FUNCTIONS, METHODS, OPERATORS, type Signature } from './signatures.ts';

export type Parsed = ReturnType<typeof parse>;
type Expr = Parsed['expr'];
type Scope = ReadonlyMap<string, CelType>;
type Node<Case> = Extract<Expr['exprKind'], { case: Case }>['value'];

/** What an evaluation looks at: of each variable its fields, or `whole`. */
export interface Uses {
  readonly whole: Set<string>;
  readonly fields: Map<string, Set<string>>;
}

export interface Checked {
  readonly cost: Cost;
  readonly uses: Uses;
}

const MOST_NODES = 400;
const MOST_NESTED = 2;

/** `compilePattern` throws for what is no pattern. Throws ExpressionFault. */
export function checkExpression(
  parsed: Parsed,
  variables: Scope,
  compilePattern: (pattern: string) => unknown,
): Checked {
  const walk = new Walk(parsed, variables, compilePattern);
  const { kind } = walk.typeOf(parsed.expr, variables, 0);
  if (kind !== 'bool' && kind !== 'dyn')
    throw new ExpressionFault(`has to be true or false, and is ${nameOf(kind)}`);
  return walk;
}

class Walk implements Checked {
  readonly cost = new Cost();
  readonly uses: Uses = { whole: new Set(), fields: new Map() };
  readonly #positions: Readonly<Record<string, number>>;
  readonly #variables: Scope;
  readonly #compilePattern: (pattern: string) => unknown;
  #nodes = 0;

  constructor({ sourceInfo }: Parsed, variables: Scope, compilePattern: (pattern: string) => unknown) {
    this.#positions = sourceInfo?.positions ?? {};
    this.#variables = variables;
    this.#compilePattern = compilePattern;
  }

  typeOf(expr: Expr, scope: Scope, depth: number): CelType {
    this.#nodes += 1;
    if (this.#nodes > MOST_NODES) throw new ExpressionFault(`has more than ${MOST_NODES} parts`);
    this.cost.step(depth);
    const { exprKind } = expr;
    if (exprKind.case === 'constExpr') return this.#constant(exprKind.value, expr);
    if (exprKind.case === 'identExpr') return this.#variable(exprKind.value.name, expr, scope);
    if (exprKind.case === 'selectExpr') return this.#field(exprKind.value, expr, scope, depth);
    if (exprKind.case === 'callExpr') return this.#call(exprKind.value, expr, scope, depth);
    if (exprKind.case === 'listExpr') return this.#list(exprKind.value, scope, depth);
    if (exprKind.case === 'comprehensionExpr') return this.#comprehension(exprKind.value, expr, scope, depth);
    throw this.#fault(expr, 'maps and messages cannot be written in a policy');
  }

  #constant({ constantKind }: Node<'constExpr'>, expr: Expr): CelType {
    const type = CONSTANTS.get(constantKind.case ?? '');
    if (type !== undefined) return type;
    throw this.#fault(expr, 'bytes and unsigned numbers cannot be compared with JSON');
  }

  #variable(name: string, expr: Expr, scope: Scope): CelType {
    if (scope.get(name) === this.#variables.get(name)) this.uses.whole.add(name);
    return this.#declared(name, expr, scope);
  }

  #declared(name: string, expr: Expr, scope: Scope): CelType {
    const type = scope.get(name);
    if (type !== undefined) return type;
    throw this.#fault(expr, `there is no "${name}" here${near(name, [...this.#variables.keys()])}`);
  }

  #field({ operand, field, testOnly }: Node<'selectExpr'>, expr: Expr, scope: Scope, depth: number): CelType {
    if (operand === undefined) throw this.#fault(expr, 'is incomplete');
    const type = this.#holder(operand, field, scope, depth);
    if (type.kind === 'dyn') return testOnly ? BOOL : DYN;
    if (type.kind !== 'map') throw this.#fault(expr, `${nameOf(type.kind)} has no field "${field}"`);
    const found = type.field?.(field);
    if (found === undefined)
      throw this.#fault(expr, `there is no field "${field}"${near(field, type.names ?? [])}`);
    return testOnly ? BOOL : found;
  }

  /** Of a variable only the field is looked at. */
  #holder(operand: Expr, field: string, scope: Scope, depth: number): CelType {
    const { exprKind } = operand;
    if (exprKind.case !== 'identExpr') return this.typeOf(operand, scope, depth);
    const { name } = exprKind.value;
    if (scope.get(name) === this.#variables.get(name)) {
      const fields = this.uses.fields.get(name) ?? new Set();
      this.uses.fields.set(name, fields.add(field));
    }
    return this.#declared(name, operand, scope);
  }

  #call(
    { function: name, target, args }: Node<'callExpr'>,
    expr: Expr,
    scope: Scope,
    depth: number,
  ): CelType {
    const known = target === undefined ? (OPERATORS.get(name) ?? FUNCTIONS.get(name)) : METHODS.get(name);
    const operands = target === undefined ? args : [target, ...args];
    if (known === undefined) throw this.#fault(expr, unknownFunction(name));
    if (target !== undefined && operands.length !== known.takes.length)
      throw this.#fault(expr, `${name}() takes ${known.takes.length - 1} arguments`);
    if (name === 'matches') this.#pattern(operands[1] ?? expr);
    if (name === '_[_]') return this.#index(operands, expr, scope, depth);
    const types = operands.map((each) => this.typeOf(each, scope, depth));
    if (known.isLinear === true && !isShort(name, operands)) this.#addLinear(name, types, depth);
    this.#checkKinds(name, known, types, expr);
    if (name === '_?_:_') return types[1]?.kind === types[2]?.kind ? (types[1] ?? DYN) : DYN;
    return known.gives ?? types.find(({ kind }) => kind !== 'dyn') ?? DYN;
  }

  #addLinear(name: string, types: readonly CelType[], depth: number): void {
    const [{ kind } = DYN] = types;
    if (name === 'size' && (kind === 'list' || kind === 'map')) return;
    if (name === '_+_') this.cost.join();
    const comparesAll =
      name === '@in' || (OPERATORS.has(name) && types.every((type) => MAY_BE_LARGE.has(type.kind)));
    if (comparesAll && name !== '_+_') this.cost.whole(depth);
    else this.cost.text(depth);
  }

  #checkKinds(name: string, { takes, alike }: Signature, types: readonly CelType[], expr: Expr): void {
    if (types.length !== takes.length)
      throw this.#fault(expr, `${shown(name)} takes ${takes.length} operands`);
    for (const [index, { kind }] of types.entries()) {
      const allowed = takes[index];
      if (kind === 'dyn' || allowed === undefined || allowed.includes(kind)) continue;
      throw this.#fault(expr, `${shown(name)} does not take ${nameOf(kind)}`);
    }
    const [first = DYN, second = DYN] = types;
    if (alike === undefined || fits(first.kind, second.kind, alike)) return;
    const hint =
      isNumber(first.kind) && isNumber(second.kind) ? ': write 1.0 instead of 1, or double(…)' : '';
    throw this.#fault(expr, `${shown(name)} of ${nameOf(first.kind)} and ${nameOf(second.kind)}${hint}`);
  }

  #index(operands: readonly Expr[], expr: Expr, scope: Scope, depth: number): CelType {
    const [holder = expr, at = expr] = operands;
    const field = textOf(at);
    const type =
      field === undefined ? this.typeOf(holder, scope, depth) : this.#holder(holder, field, scope, depth);
    const { kind } = this.typeOf(at, scope, depth);
    if (type.kind === 'list' && (kind === 'int' || kind === 'dyn')) return type.item?.() ?? DYN;
    if (type.kind === 'dyn' || (type.kind === 'map' && field === undefined && kind !== 'int')) return DYN;
    if (type.kind !== 'map' || field === undefined)
      throw this.#fault(expr, `${nameOf(type.kind)} cannot be asked for an item by ${nameOf(kind)}`);
    const found = type.field?.(field);
    if (found === undefined)
      throw this.#fault(expr, `there is no field "${field}"${near(field, type.names ?? [])}`);
    return found;
  }

  #pattern(expr: Expr): void {
    const pattern = textOf(expr);
    if (pattern === undefined)
      throw this.#fault(expr, 'the pattern of matches() has to be a text that stands here');
    try {
      this.#compilePattern(pattern);
    } catch (error) {
      throw this.#fault(expr, `the pattern of matches() is none: ${(error as Error).message}`);
    }
  }

  #list({ elements }: Node<'listExpr'>, scope: Scope, depth: number): CelType {
    const types = elements.map((each) => this.typeOf(each, scope, depth));
    const [first = DYN] = types;
    return listOf(types.every(({ kind }) => kind === first.kind) ? first : DYN);
  }

  #comprehension(each: Node<'comprehensionExpr'>, expr: Expr, scope: Scope, depth: number): CelType {
    const { accuInit, iterRange, loopCondition, loopStep, result } = each;
    if (!accuInit || !iterRange || !loopCondition || !loopStep || !result)
      throw this.#fault(expr, 'is incomplete');
    if (accuInit.exprKind.case === 'listExpr')
      throw this.#fault(expr, 'map() and filter() are not for policies: use all(), exists() or exists_one()');
    if (depth === MOST_NESTED) throw this.#fault(expr, `is nested deeper than ${MOST_NESTED} levels`);
    const range = this.typeOf(iterRange, scope, depth);
    if (range.kind !== 'list' && range.kind !== 'map' && range.kind !== 'dyn')
      throw this.#fault(expr, `${nameOf(range.kind)} has no items`);
    const item = range.kind === 'map' ? STRING : (range.item?.() ?? DYN);
    const start = this.typeOf(accuInit, scope, depth);
    const inside = new Map([...scope, [each.accuVar, start], [each.iterVar, item]]);
    this.typeOf(loopCondition, inside, depth + 1);
    this.typeOf(loopStep, inside, depth + 1);
    return this.typeOf(result, new Map([...scope, [each.accuVar, start]]), depth);
  }

  #fault({ id }: Expr, message: string): ExpressionFault {
    const offset = this.#positions[String(id)];
    return new ExpressionFault(message, offset === undefined ? undefined : offset + 1);
  }
}

const CONSTANTS: ReadonlyMap<string, CelType> = new Map([
  ['int64Value', INT],
  ['doubleValue', DOUBLE],
  ['stringValue', STRING],
  ['boolValue', BOOL],
  ['nullValue', NULL],
]);

const MAY_BE_LARGE: ReadonlySet<CelKind> = new Set(['list', 'map', 'dyn']);

function textOf({ exprKind }: Expr): string | undefined {
  if (exprKind.case !== 'constExpr') return undefined;
  const { constantKind } = exprKind.value;
  return constantKind.case === 'stringValue' ? constantKind.value : undefined;
}

/** Compared with what stands in the expression, a value of any size is told apart at once. */
function isShort(name: string, operands: readonly Expr[]): boolean {
  const literals = operands.filter(isLiteral).length;
  if (name === '@in') return literals > 0 && operands[1] !== undefined && isLiteral(operands[1]);
  return name !== 'size' && name !== 'contains' && name !== 'matches' && name !== '_+_' && literals > 0;
}

function isLiteral({ exprKind }: Expr): boolean {
  if (exprKind.case === 'listExpr')
    return exprKind.value.elements.every((each) => each.exprKind.case === 'constExpr');
  return exprKind.case === 'constExpr';
}

function fits(a: CelKind, b: CelKind, alike: 'exactly' | 'numbers'): boolean {
  if (a === b || a === 'dyn' || b === 'dyn') return true;
  // Whether an argument may be null stands in its schema, and CEL compares null with everything.
  if (alike === 'numbers' && (a === 'null' || b === 'null')) return true;
  return alike === 'numbers' && isNumber(a) && isNumber(b);
}

function isNumber(kind: CelKind): boolean {
  return kind === 'int' || kind === 'double';
}
