// Evaluates JMESPath over data that nobody vouches for: own properties only, and no more work than the call may cost.
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { Ast } from './ast.ts';
import { callFunction, deepEqual, FUNCTIONS, type Reference } from './functions.ts';
import { valuesOf } from './members.ts';
import { ExpressionError, type Work } from './work.ts';

/** An object's member takes as long to make as so many nodes to visit. */
const COST_OF_MEMBER = 6;

/** The tree's names and arity were checked at load. Throws ExpressionError. */
export function evaluate(node: Ast, value: JsonValue, work: Work): JsonValue {
  work.spend(1);
  switch (node.type) {
    case 'Current':
    case 'Identity':
      return value;
    case 'Field':
      return isJsonObject(value) && Object.hasOwn(value, node.name) ? (value[node.name] ?? null) : null;
    case 'Literal':
      return node.value;
    case 'Index':
      return Array.isArray(value) ? (value.at(node.value) ?? null) : null;
    case 'Slice':
      return slice(value, node.children, work);
    case 'Subexpression':
    case 'IndexExpression':
    case 'Pipe':
      return evaluate(node.children[1], evaluate(node.children[0], value, work), work);
    case 'OrExpression':
    case 'AndExpression': {
      const left = evaluate(node.children[0], value, work);
      const decides = isTruthy(left) === (node.type === 'OrExpression');
      return decides ? left : evaluate(node.children[1], value, work);
    }
    case 'NotExpression':
      return !isTruthy(evaluate(node.children[0], value, work));
    case 'Comparator':
      return compare(node, value, work);
    case 'Flatten':
      return flatten(evaluate(node.children[0], value, work), work);
    case 'Projection':
    case 'ValueProjection':
    case 'FilterProjection': {
      const [base, right, condition] = node.children;
      const items = itemsOf(evaluate(base, value, work), node.type === 'ValueProjection', work);
      return items === null ? null : project(items, right, condition, work);
    }
    case 'MultiSelectList':
      return value === null ? null : node.children.map((child) => evaluate(child, value, work));
    case 'MultiSelectHash':
      if (value === null) return null;
      work.spend(node.children.length * COST_OF_MEMBER);
      return Object.fromEntries(node.children.map((pair) => [pair.name, evaluate(pair.value, value, work)]));
    case 'Function':
      return callNamed(node, value, work);
    case 'ExpressionReference':
      break;
  }
  throw new ExpressionError('an expression after "&" is for a function, and no value');
}

/** False, null, and whatever is empty are not true. */
export function isTruthy(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return hasMembers(value);
  return value !== null && value !== false && value !== '';
}

/** Asking an object of many members takes as long as they are many: asked once of each. */
const knownFull = new WeakSet<object>();

function hasMembers(object: JsonObject): boolean {
  if (knownFull.has(object)) return true;
  if (Object.keys(object).length === 0) return false;
  knownFull.add(object);
  return true;
}

function callNamed(node: Ast & { readonly type: 'Function' }, value: JsonValue, work: Work): JsonValue {
  const fn = FUNCTIONS.get(node.name);
  if (fn === undefined) throw new ExpressionError(`there is no function ${node.name}()`);
  const args = node.children.map((child) =>
    child.type === 'ExpressionReference' ? referenceOf(child.children[0]) : evaluate(child, value, work),
  );
  return callFunction(node.name, fn, args, work);
}

function referenceOf(node: Ast): Reference {
  return (item, work) => evaluate(node, item, work);
}

function compare(node: Ast & { readonly type: 'Comparator' }, value: JsonValue, work: Work): boolean | null {
  const left = evaluate(node.children[0], value, work);
  const right = evaluate(node.children[1], value, work);
  if (node.name === 'EQ') return deepEqual(left, right, work);
  if (node.name === 'NE') return !deepEqual(left, right, work);
  // JMESPath orders numbers alone.
  if (typeof left !== 'number' || typeof right !== 'number') return null;
  if (node.name === 'GT') return left > right;
  if (node.name === 'GTE') return left >= right;
  return node.name === 'LT' ? left < right : left <= right;
}

function itemsOf(base: JsonValue, ofObject: boolean, work: Work): readonly JsonValue[] | null {
  if (ofObject) return isJsonObject(base) ? valuesOf(base, work) : null;
  return Array.isArray(base) ? base : null;
}

/** The right side for each item that meets the condition; what is null falls out. */
function project(
  items: readonly JsonValue[],
  right: Ast,
  condition: Ast | undefined,
  work: Work,
): JsonValue[] {
  work.spend(items.length);
  const projected: JsonValue[] = [];
  for (const item of items) {
    if (condition !== undefined && !isTruthy(evaluate(condition, item, work))) continue;
    const result = evaluate(right, item, work);
    if (result !== null) projected.push(result);
  }
  return projected;
}

function flatten(value: JsonValue, work: Work): JsonValue {
  if (!Array.isArray(value)) return null;
  // Each is looked at for whether it is a list, and copied.
  for (const item of value) work.spend(Array.isArray(item) ? 2 * item.length + 2 : 2);
  return value.flat(1);
}

function slice(value: JsonValue, [from, to, by]: readonly (number | null)[], work: Work): JsonValue {
  if (!Array.isArray(value)) return null;
  const step = by ?? 1;
  const { length } = value;
  const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
  const bound = (at: number) => Math.min(Math.max(at < 0 ? at + length : at, least), most);
  const start = bound(from ?? (step > 0 ? 0 : length));
  const stop = to === null || to === undefined ? (step > 0 ? most : least) : bound(to);
  const taken: JsonValue[] = [];
  for (let at = start; step > 0 ? at < stop : at > stop; at += step) taken.push(value[at] ?? null);
  work.spend(taken.length);
  return taken;
}
