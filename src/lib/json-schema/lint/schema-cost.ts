// What checking a value may cost: how a small schema can take for ever, found before it is compiled.
import type { PartLink, SchemaNode } from './schema-graph.ts';

/** Levels of the deepest value that the doors let in. */
const VALUE_DEPTH = 32;

/** Bound of the work of this file itself. A schema that needs more is refused like one that costs too much. */
const MAX_STEPS = 500_000;

/** Sub-schemas before those that refer to them. `loop` leads back to itself, if there is such a one. */
export function innermostFirst(
  nodes: readonly SchemaNode[],
  childrenOf: (node: SchemaNode) => readonly SchemaNode[],
): { readonly order: readonly SchemaNode[]; readonly loop: SchemaNode | undefined } {
  const state = new Map<SchemaNode, 'open' | 'done'>();
  const order: SchemaNode[] = [];
  let loop: SchemaNode | undefined;
  for (const start of nodes) {
    const stack = state.has(start) ? [] : [frameOf(start)];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      state.set(top.node, 'open');
      const child = top.children[top.next];
      top.next += 1;
      if (child === undefined) {
        state.set(top.node, 'done');
        order.push(top.node);
        stack.pop();
      } else if (state.get(child) === 'open') loop ??= child;
      else if (!state.has(child)) stack.push(frameOf(child));
    }
  }
  return { order, loop };

  function frameOf(node: SchemaNode) {
    return { node, children: childrenOf(node), next: 0 };
  }
}

/** How large the schema becomes with every reference written out; one back to where it stands counts as one. */
export function expandedSize(root: SchemaNode, enough: number): number {
  const { order } = innermostFirst([root], childrenOf);
  const sizes = new Map<SchemaNode, number>();
  for (const node of order) {
    let size = 1;
    for (const child of childrenOf(node)) size = Math.min(size + (sizes.get(child) ?? 1), enough + 1);
    sizes.set(node, size);
  }
  return sizes.get(root) ?? 1;
}

function childrenOf({ same, members, items }: SchemaNode): SchemaNode[] {
  return [...same, ...members.map(({ node }) => node), ...items.map(({ node }) => node)];
}

/**
 * For each sub-schema an upper bound of the checks along one branch of a value, from its root to a leaf.
 * Sub-schemas that look at the same part add up; those of different parts do not, as the value is divided
 * among them. `order` is innermostFirst over `same`, and has no loop. Costs above `enough` are not told apart.
 * `weightOf`: the checks of a value by one sub-schema alone.
 */
export function checkingCosts(
  order: readonly SchemaNode[],
  enough: number,
  weightOf: (node: SchemaNode) => number = () => 1,
): ReadonlyMap<SchemaNode, number> {
  const weights = new Map(order.map((node) => [node, weightOf(node)]));
  let totals: ReadonlyMap<SchemaNode, number> = new Map();
  const budget = { steps: MAX_STEPS };
  for (let level = 0; level <= VALUE_DEPTH; level += 1) {
    const costs = new Map<SchemaNode, Cost>();
    for (const node of order)
      costs.set(node, costOf(node, weights.get(node) ?? 1, { costs, deeper: totals, enough, budget }));
    const next = new Map(order.map((node) => [node, totalOf(costs.get(node), enough)]));
    if (budget.steps < 0) return new Map(order.map((node) => [node, enough + 1]));
    const settled = order.every((node) => next.get(node) === totals.get(node));
    totals = next;
    if (settled) break;
  }
  return totals;
}

/** Checks of the value itself, of each named part of it, and of a part without a name of its own. */
interface Cost {
  own: number;
  members: PartCosts;
  items: PartCosts;
}

interface PartCosts {
  readonly named: ReadonlyMap<string, number>;
  readonly rest: number;
}

const NO_PARTS: PartCosts = { named: new Map(), rest: 0 };

interface Known {
  readonly costs: ReadonlyMap<SchemaNode, Cost>;
  readonly deeper: ReadonlyMap<SchemaNode, number>;
  readonly enough: number;
  readonly budget: { steps: number };
}

function costOf(node: SchemaNode, weight: number, { costs, deeper, enough, budget }: Known): Cost {
  const cost: Cost = {
    own: weight,
    members: partsOf(node.members, deeper, closingCost(node)),
    items: partsOf(node.items, deeper, 0),
  };
  budget.steps -= 1 + node.members.length + node.items.length;
  for (const same of node.same) {
    const inner = costs.get(same);
    if (inner === undefined || budget.steps < 0) continue;
    cost.own = Math.min(cost.own + inner.own, enough + 1);
    cost.members = sumOf(cost.members, inner.members, enough, budget);
    cost.items = sumOf(cost.items, inner.items, enough, budget);
  }
  return cost;
}

/** Each member is compared with every name that was looked at before it counts as one that was not. */
function closingCost({ schema }: SchemaNode): number {
  const { unevaluatedProperties, properties } = schema;
  if (unevaluatedProperties === undefined || typeof properties !== 'object' || properties === null) return 0;
  return Object.keys(properties).length;
}

/** `first`: what each part costs before any sub-schema looks at it. */
function partsOf(
  links: readonly PartLink[],
  deeper: ReadonlyMap<SchemaNode, number>,
  first: number,
): PartCosts {
  if (links.length === 0 && first === 0) return NO_PARTS;
  const named = new Map<string, number>();
  let each = first;
  let rest = 0;
  for (const { part, node } of links) {
    const cost = deeper.get(node) ?? 0;
    if (part === 'each') each += cost;
    else if (part === 'rest') rest += cost;
    else named.set(part.name, cost);
  }
  if (each > 0) for (const [name, cost] of named) named.set(name, cost + each);
  return { named, rest: each + rest };
}

function sumOf(one: PartCosts, other: PartCosts, enough: number, budget: { steps: number }): PartCosts {
  if (other === NO_PARTS) return one;
  if (one === NO_PARTS) return other;
  budget.steps -= one.named.size + other.named.size;
  const named = new Map<string, number>();
  for (const name of [...one.named.keys(), ...other.named.keys()]) {
    const sum = (one.named.get(name) ?? one.rest) + (other.named.get(name) ?? other.rest);
    named.set(name, Math.min(sum, enough + 1));
  }
  return { named, rest: Math.min(one.rest + other.rest, enough + 1) };
}

function totalOf(cost: Cost | undefined, enough: number): number {
  if (cost === undefined) return 0;
  return Math.min(cost.own + Math.max(largestOf(cost.members), largestOf(cost.items)), enough + 1);
}

function largestOf({ named, rest }: PartCosts): number {
  let largest = rest;
  for (const cost of named.values()) if (cost > largest) largest = cost;
  return largest;
}
