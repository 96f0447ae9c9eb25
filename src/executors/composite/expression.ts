// Expression: JMESPath compiled at load, with every name in it checked against what is known when it runs.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import { parseExpression, type Ast } from '../../lib/jmespath/ast.ts';
import { evaluate } from '../../lib/jmespath/evaluate.ts';
import { ExpressionError, type Work } from '../../lib/jmespath/work.ts';

/** What an expression may name at its place. */
export interface Names {
  /** Steps that have ended when it is evaluated. */
  readonly steps: ReadonlySet<string>;
  /** All steps, for telling a reference too early from a misspelt one. */
  readonly allSteps: ReadonlySet<string>;
  /** Inside a for_each: `item` and `index` are bound. */
  readonly hasItem: boolean;
}

/** What expressions see: `input`, `steps`, `errors`, and inside a for_each `item` and `index`. */
export type Scope = JsonObject;

export interface Expression {
  readonly text: string;
  /** Throws ExpressionError. */
  evaluate(scope: Scope, work: Work): JsonValue;
  /** True if the call's arguments are all it needs. */
  readonly needsOnlyInput: boolean;
  /** Arguments of the composite that it names. */
  readonly inputs: readonly string[];
}

/** Throws Error with a sentence about the text. */
export function compileExpression(text: string, names: Names): Expression {
  const tree = parseExpression(text);
  const reader = new NameReader(names);
  reader.read(tree, 'root');
  return {
    text,
    evaluate(scope, work) {
      try {
        const value = evaluate(tree, scope, work);
        work.spendWhole(value);
        return value;
      } catch (error) {
        // The only way to a RangeError here: data so deep that walking them fills the stack.
        throw error instanceof RangeError ? new ExpressionError('the data are nested too deep') : error;
      }
    },
    needsOnlyInput: [...reader.roots].every((root) => root === 'input'),
    inputs: [...reader.inputs],
  };
}

/** What a piece of the tree is applied to, as far as that can be known before there are data. */
type Place = 'root' | 'input' | 'steps' | 'data';

class NameReader {
  readonly roots = new Set<string>();
  readonly inputs = new Set<string>();
  readonly #names: Names;

  constructor(names: Names) {
    this.#names = names;
  }

  /** Checks the piece and says what its value is. */
  read(node: Ast, place: Place): Place {
    if (node.type === 'Field') return this.#field(node.name, place);
    if (node.type === 'Current' || node.type === 'Identity') {
      if (place === 'root') this.roots.add('everything');
      return place;
    }
    if (node.type === 'Subexpression' || node.type === 'IndexExpression' || node.type === 'Pipe') {
      const [left, right] = node.children;
      if (left.type === 'NotExpression' && node.type !== 'Pipe')
        throw new Error('"!" binds closer than "." and "[": write !(a.b) with the path in parentheses');
      return this.read(right, this.read(left, place));
    }
    for (const { part, isPerItem } of partsOf(node)) this.read(part, isPerItem ? 'data' : place);
    return 'data';
  }

  #field(name: string, place: Place): Place {
    if (place === 'root') return this.#root(name);
    if (place === 'steps') this.#step(name);
    if (place === 'input') this.inputs.add(name);
    return 'data';
  }

  #root(name: string): Place {
    const known = ['input', 'steps', 'errors', ...(this.#names.hasItem ? ['item', 'index'] : [])];
    if (!known.includes(name)) {
      const step = this.#names.allSteps.has(name) ? `; the result of a step is steps.${name}` : '';
      throw new Error(`"${name}" is no name here: expected ${known.join(', ')}${step}`);
    }
    this.roots.add(name);
    if (name === 'input') return 'input';
    return name === 'steps' || name === 'errors' ? 'steps' : 'data';
  }

  #step(id: string): void {
    const { steps, allSteps } = this.#names;
    if (steps.has(id)) return;
    if (allSteps.has(id)) throw new Error(`the step "${id}" has not ended here: name earlier steps only`);
    const near = didYouMean(id, steps);
    throw new Error(`there is no step "${id}"${near === undefined ? '' : `; did you mean "${near}"?`}`);
  }
}

interface Part {
  readonly part: Ast;
  /** Applied to each item of a list, and not to what the whole is applied to. */
  readonly isPerItem: boolean;
}

const PROJECTIONS: ReadonlySet<string> = new Set(['Projection', 'ValueProjection', 'FilterProjection']);

function partsOf(node: Ast): readonly Part[] {
  if (node.type === 'MultiSelectHash')
    return node.children.map(({ value }) => ({ part: value, isPerItem: false }));
  if (!('children' in node) || node.type === 'Slice') return [];
  const isProjection = PROJECTIONS.has(node.type);
  return node.children.map((part, index) => ({
    part,
    isPerItem: node.type === 'ExpressionReference' || (isProjection && index > 0),
  }));
}
