// The syntax tree of a JMESPath expression, as the jmespath package parses it. Evaluated by evaluate.ts, not by the package.
import { compile } from 'jmespath';
import { didYouMean } from '../text/did-you-mean.ts';
import type { JsonValue } from '../json/json-value.ts';
import { FUNCTIONS } from './functions.ts';

declare module 'jmespath' {
  /** Exported by the package and missing in its types. Throws Error for what is no expression. */
  function compile(expression: string): unknown;
}

type Pair =
  | 'Subexpression'
  | 'IndexExpression'
  | 'Pipe'
  | 'OrExpression'
  | 'AndExpression'
  | 'Projection'
  | 'ValueProjection';

export type Ast =
  | { readonly type: 'Field'; readonly name: string }
  | { readonly type: Pair; readonly children: readonly [Ast, Ast] }
  | { readonly type: 'FilterProjection'; readonly children: readonly [Ast, Ast, Ast] }
  | { readonly type: 'Flatten' | 'NotExpression' | 'ExpressionReference'; readonly children: readonly [Ast] }
  | { readonly type: 'Comparator'; readonly name: string; readonly children: readonly [Ast, Ast] }
  | { readonly type: 'Index'; readonly value: number }
  | { readonly type: 'Slice'; readonly children: readonly (number | null)[] }
  | { readonly type: 'MultiSelectList'; readonly children: readonly Ast[] }
  | { readonly type: 'MultiSelectHash'; readonly children: readonly KeyValuePair[] }
  | { readonly type: 'Function'; readonly name: string; readonly children: readonly Ast[] }
  | { readonly type: 'Literal'; readonly value: JsonValue }
  | { readonly type: 'Current' | 'Identity' };

export interface KeyValuePair {
  readonly type: 'KeyValuePair';
  readonly name: string;
  readonly value: Ast;
}

const MAX_LENGTH = 2_000;
const MAX_DEPTH = 100;

/** A whole expression, with functions that there are. Throws Error with a sentence about the text. */
export function parseExpression(text: string): Ast {
  if (text.length > MAX_LENGTH)
    throw new Error(`expected an expression of at most ${MAX_LENGTH} characters, found ${text.length}`);
  let tree: unknown;
  try {
    tree = compile(text);
  } catch (error) {
    throw new Error(`expected a JMESPath expression${whyNot(error)}`, { cause: error });
  }
  checkComplete(tree, 0);
  return tree as Ast;
}

/** Where the parser gives up by a defect of its own, its message would help nobody. */
function whyNot(error: unknown): string {
  const message = error instanceof Error && !(error instanceof TypeError) ? error.message : '';
  return message === '' || message.includes('undefined') ? ', found something else' : `: ${message}`;
}

/** The parser lets some pieces be missing (`a.1`, `()`, `[-]`): those are refused here, and so is a tree too deep to walk. */
function checkComplete(node: unknown, depth: number): void {
  if (depth > MAX_DEPTH) throw new Error(`expected an expression nested at most ${MAX_DEPTH} levels deep`);
  if (typeof node !== 'object' || node === null)
    throw new Error('expected a JMESPath expression: a part is missing');
  const {
    type,
    children = [],
    value,
    name,
  } = node as {
    readonly type?: unknown;
    readonly children?: readonly unknown[];
    readonly value?: unknown;
    readonly name?: unknown;
  };
  switch (type) {
    case 'Index':
      checkNumber(value);
      break;
    case 'Slice':
      for (const part of children) if (part !== null) checkNumber(part);
      if (children[2] === 0) throw new Error('expected a slice with a step other than 0');
      break;
    case 'KeyValuePair':
      if (name === '__proto__') throw new Error('the key "__proto__" is not allowed');
      checkComplete(value, depth + 1);
      break;
    case 'Function':
      if (typeof name !== 'string') throw new Error('expected the name of a function before "("');
      checkArity(name, children.length);
      for (const child of children) checkComplete(child, depth + 1);
      break;
    default:
      for (const child of children) checkComplete(child, depth + 1);
  }
}

function checkNumber(value: unknown): void {
  if (!Number.isSafeInteger(value)) throw new Error('expected a whole number in brackets');
}

function checkArity(name: string, given: number): void {
  const fn = FUNCTIONS.get(name);
  if (fn === undefined) {
    const near = didYouMean(name, FUNCTIONS.keys());
    throw new Error(`there is no function ${name}()${near === undefined ? '' : `; did you mean ${near}()?`}`);
  }
  const { length } = fn.parameters;
  const fits = fn.variadic === true ? given >= length : given === length;
  if (fits) return;
  const expected = `${fn.variadic === true ? 'at least ' : ''}${length} argument${length === 1 ? '' : 's'}`;
  throw new Error(`${name}() takes ${expected}, found ${given}`);
}
