// Picks the part of an upstream's JSON that a tool returns: a JMESPath expression, bounded at load in what it can cost.
import jmespath from 'jmespath';
import type { JsonValue } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';

declare module 'jmespath' {
  /** Missing in the package's types. Throws Error for what is not an expression. */
  export function compile(expression: string): JmespathNode;
  export interface JmespathNode {
    readonly type: string;
    readonly children?: readonly (JmespathNode | null | number)[];
    readonly value?: unknown;
  }
}

const MAX_LENGTH = 1_000;
/** How many times larger than the data a result, or any step on the way to it, may become. */
const MAX_GROWTH = 16;

/** What is wrong with an expression, or undefined. */
export function selectionProblem(expression: string): string | undefined {
  if (expression.length > MAX_LENGTH) {
    return `Expected a JMESPath expression of at most ${MAX_LENGTH} characters, found ${expression.length}.`;
  }
  try {
    const node = jmespath.compile(expression);
    const flaw = flawOf(node);
    if (flaw !== undefined) return `Expected a JMESPath expression: ${flaw}.`;
    const growth = growthOf(node);
    return growth > MAX_GROWTH
      ? `Expected a JMESPath expression that takes the same data at most ${MAX_GROWTH} times; this one may take it ${growth} times.`
      : undefined;
  } catch (error) {
    return `Expected a JMESPath expression: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

/** The selected part; null where there is none. Throws ToolFailure OUTPUT_INVALID or OUTPUT_TOO_LARGE. */
export function selectData(data: JsonValue, expression: string, maxBytes: number): JsonValue {
  let selected: JsonValue;
  try {
    selected = jmespath.search(data, expression) as JsonValue;
  } catch (cause) {
    throw new ToolFailure(
      'OUTPUT_INVALID',
      "The upstream's answer is not what the tool's selection expects.",
      {
        reason: 'SELECTION_FAILED',
        cause,
      },
    );
  }
  if (isLargerThan(selected, maxBytes)) {
    throw new ToolFailure(
      'OUTPUT_TOO_LARGE',
      `What the tool selects is larger than the limit of ${maxBytes} bytes.`,
      {
        details: { max_bytes: maxBytes },
      },
    );
  }
  return selected;
}

const FUNCTIONS: ReadonlySet<string> = new Set(
  (
    'abs avg ceil contains ends_with floor join keys length map max max_by merge min min_by not_null reverse sort ' +
    'sort_by starts_with sum to_array to_number to_string type values'
  ).split(' '),
);

/** What the package's parser lets through, and what would fail in every call. */
function flawOf(node: unknown): string | undefined {
  const inner = isPair(node) ? node.value : node;
  if (typeof inner !== 'object' || inner === null || !('type' in inner)) return 'a part is missing';
  if (inner.type === 'Slice') return undefined;
  if (inner.type === 'Function' && 'name' in inner && !FUNCTIONS.has(String(inner.name))) {
    return `there is no function "${String(inner.name)}"`;
  }
  const children: readonly unknown[] =
    'children' in inner && Array.isArray(inner.children) ? inner.children : [];
  return children.map(flawOf).find((flaw) => flaw !== undefined);
}

/**
 * An upper bound: what stands side by side adds up, what follows upon each other multiplies. Expressions see only
 * what the step before gave them, so that no loop can run over the whole data for each of its items.
 */
function growthOf(node: unknown): number {
  if (typeof node !== 'object' || node === null || !('type' in node)) return 1;
  const children = 'children' in node && Array.isArray(node.children) ? node.children : [];
  const inner = children.map((child: unknown) => growthOf(isPair(child) ? child.value : child));
  const sum = inner.reduce((total, growth) => total + growth, 0);
  const product = inner.reduce((total, growth) => total * growth, 1);
  switch (node.type) {
    case 'MultiSelectList':
    case 'MultiSelectHash':
      return Math.max(1, sum);
    case 'Function':
      return Math.max(1, sum, product);
    default:
      return product;
  }
}

function isPair(node: unknown): node is { readonly value: unknown } {
  return typeof node === 'object' && node !== null && 'type' in node && node.type === 'KeyValuePair';
}

/** Counts and stops at the limit: an expression may name the same data many times. */
function isLargerThan(value: JsonValue, maxBytes: number): boolean {
  let left = maxBytes;
  const visit = (item: unknown): void => {
    left -= typeof item === 'string' ? Buffer.byteLength(item) + 2 : 1;
    if (left < 0 || typeof item !== 'object' || item === null) return;
    for (const [key, inner] of Object.entries(item)) {
      if (!Array.isArray(item)) left -= key.length + 3;
      visit(inner);
      if (left < 0) return;
    }
  };
  visit(value);
  return left < 0;
}
