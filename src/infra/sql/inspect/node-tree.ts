// Reads what PostgreSQL keeps of a parsed statement or expression (pg_node_tree): functions and tables stand in it as oids.
import { Unfit } from './unfit.ts';

export type TreeValue = string | TreeNode | readonly TreeValue[];

export interface TreeNode {
  /** `FUNCEXPR`, `OPEXPR` … */
  readonly tag: string;
  /** By name, without the colon. A constant's bytes are many values, all else is one. */
  readonly fields: ReadonlyMap<string, readonly TreeValue[]>;
}

/** As the server's own reader takes it apart: a backslash makes the next character part of a word. */
const TOKEN = /\{[A-Z0-9]+|[{}()]|(?:\\[^]|[^\s(){}\\])+/g;

interface OpenNode {
  readonly tag: string;
  readonly fields: Map<string, TreeValue[]>;
  values: TreeValue[];
}

/** Not by recursion: a tree is as deep as its statement is long. Throws Error for what is no tree. */
export function readTree(text: string): readonly TreeValue[] {
  const roots: TreeValue[] = [];
  const open: (OpenNode | TreeValue[])[] = [];
  const add = (value: TreeValue) => {
    const inner = open.at(-1);
    if (inner === undefined) roots.push(value);
    else if (Array.isArray(inner)) inner.push(value);
    else inner.values.push(value);
  };
  for (const [token] of text.matchAll(TOKEN)) {
    const inner = open.at(-1);
    if (token === '(') open.push([]);
    else if (token.startsWith('{') && token.length > 1)
      open.push({ tag: token.slice(1), fields: new Map(), values: [] });
    else if (token === ')' || token === '}') {
      if (inner === undefined || Array.isArray(inner) !== (token === ')')) throw unreadable();
      open.pop();
      add(inner);
    } else if (token === '{') throw unreadable();
    else if (inner !== undefined && !Array.isArray(inner) && token.startsWith(':')) beginField(inner, token);
    else add(token);
  }
  if (open.length > 0 || roots.length === 0) throw unreadable();
  return roots;
}

/**
 * A name given by the statement may begin with a colon too, and then stands here as a field of its own: whoever reads a
 * field takes all its values, and refuses the tree where there are none.
 */
function beginField(node: OpenNode, token: string): void {
  const name = token.slice(1);
  const known = node.fields.get(name);
  node.values = known ?? [];
  if (known === undefined) node.fields.set(name, node.values);
}

/** All nodes, from the outside to the inside. */
export function* nodesOf(roots: readonly TreeValue[]): Generator<TreeNode> {
  const open: TreeValue[] = roots.toReversed();
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string') continue;
    if (isNode(value)) {
      yield value;
      for (const values of [...value.fields.values()].toReversed()) open.push(...values.toReversed());
    } else open.push(...value.toReversed());
  }
}

export function isNode(value: TreeValue | undefined): value is TreeNode {
  return typeof value === 'object' && 'tag' in value;
}

/** The field's only value. */
export function only(node: TreeNode, field: string): TreeValue | undefined {
  const values = node.fields.get(field);
  return values?.length === 1 ? values[0] : undefined;
}

/** The field's list; empty where it is none, or NULL (`<>`). */
export function listOf(node: TreeNode, field: string): readonly TreeValue[] {
  const value = only(node, field);
  return value === undefined || typeof value === 'string' || isNode(value) ? [] : value;
}

const TEXT = '25';

/** A constant: its text, or `#` for one that is of another type than text. Undefined: no constant, or NULL. */
export function constantOf(value: TreeValue | undefined): string | undefined {
  if (!isNode(value) || value.tag !== 'CONST' || only(value, 'constisnull') !== 'false') return undefined;
  if (only(value, 'consttype') !== TEXT) return '#';
  const [, open, ...bytes] = value.fields.get('constvalue') ?? [];
  if (open !== '[' || bytes.at(-1) !== ']') return undefined;
  // After four bytes that say how long it is. Bytes beyond ASCII are printed with a sign.
  return Buffer.from(bytes.slice(4, -1).map((byte) => Number(byte) & 0xff)).toString('utf8');
}

function unreadable(): Error {
  return new Unfit('What the server made of the statement cannot be read.');
}
