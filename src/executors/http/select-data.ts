// Picks the part of an upstream's JSON that a tool returns: a JMESPath expression, bounded in what it can cost.
import type { JsonValue } from '../../contract/json.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { parseExpression, type Ast } from '../../lib/jmespath/ast.ts';
import { evaluate } from '../../lib/jmespath/evaluate.ts';
import { Work } from '../../lib/jmespath/work.ts';

const MAX_LENGTH = 1_000;
/** How many times larger than the data a result, or any step on the way to it, may become. */
const MAX_GROWTH = 16;

export type Selection = (data: JsonValue) => JsonValue;

/** What is wrong with an expression, or undefined. */
export function selectionProblem(expression: string): string | undefined {
  if (expression.length > MAX_LENGTH) {
    return `Expected a JMESPath expression of at most ${MAX_LENGTH} characters, found ${expression.length}.`;
  }
  try {
    const growth = growthOf(parseExpression(expression));
    return growth > MAX_GROWTH
      ? `Expected a JMESPath expression that takes the same data at most ${MAX_GROWTH} times; this one may take it ${growth} times.`
      : undefined;
  } catch (error) {
    return `Expected a JMESPath expression that can be evaluated: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

/**
 * Parsed once. Gives the selected part, or null where there is none; throws ToolFailure OUTPUT_INVALID or
 * OUTPUT_TOO_LARGE. `maxBytes` bounds the answer and the result.
 */
export function compileSelection(expression: string, maxBytes: number): Selection {
  const tree = parseExpression(expression);
  return (data) => {
    const selected = evaluated(tree, data, new Work());
    const { left, isPlain } = measured(selected, maxBytes);
    if (left < 0) {
      const message = `What the tool selects is larger than the limit of ${maxBytes} bytes.`;
      throw new ToolFailure('OUTPUT_TOO_LARGE', message, { details: { max_bytes: maxBytes } });
    }
    return isPlain ? selected : (JSON.parse(JSON.stringify(selected) ?? 'null') as JsonValue);
  };
}

function evaluated(tree: Ast, data: JsonValue, work: Work): JsonValue {
  try {
    return evaluate(tree, data, work);
  } catch (cause) {
    const message = "The upstream's answer is not what the tool's selection expects.";
    throw toolFailure('SELECTION_FAILED', message, { cause });
  }
}

/**
 * An upper bound: what stands side by side adds up, what follows upon each other multiplies. Expressions see only
 * what the step before gave them, so that no loop can run over the whole data for each of its items.
 */
function growthOf(node: Ast): number {
  if (node.type === 'MultiSelectHash')
    return Math.max(1, sumOf(node.children.map(({ value }) => growthOf(value))));
  if (!('children' in node) || node.type === 'Slice') return 1;
  const inner = node.children.map(growthOf);
  const product = inner.reduce((total, growth) => total * growth, 1);
  if (node.type === 'MultiSelectList') return Math.max(1, sumOf(inner));
  return node.type === 'Function' ? Math.max(1, sumOf(inner), product) : product;
}

function sumOf(growths: readonly number[]): number {
  return growths.reduce((total, growth) => total + growth, 0);
}

/** Counts and stops at the limit: an expression may name the same data many times, and come to numbers that JSON has not. */
function measured(value: JsonValue, maxBytes: number): { readonly left: number; readonly isPlain: boolean } {
  let left = maxBytes;
  let isPlain = true;
  const visit = (item: unknown): void => {
    left -= typeof item === 'string' ? Buffer.byteLength(item) + 2 : 1;
    if (item === undefined || (typeof item === 'number' && !Number.isFinite(item))) isPlain = false;
    if (left < 0 || typeof item !== 'object' || item === null) return;
    for (const [key, inner] of Object.entries(item)) {
      if (!Array.isArray(item)) left -= key.length + 3;
      visit(inner);
      if (left < 0) return;
    }
  };
  visit(value);
  return { left, isPlain };
}
