// How much work a schema makes of each part of a value: what decides whether a value is checked on the event loop.
import { checkingCosts, innermostFirst } from './schema-cost.ts';
import { schemaGraph, type SchemaNode } from './schema-graph.ts';
import { countTokens } from './schema-size.ts';

/** Checks of one part that the loop makes at a time, some 10 to 20 nanoseconds each. */
const MAX_CHECKS = 1_000_000;
/** Costs above are not told apart. */
const ENOUGH = 1_000_000;
/** An error that does not end the check is made, kept and thrown away: as dear as several checks. */
const CATCHES = ['anyOf', 'oneOf', 'not', 'if', 'contains'];
const COST_OF_ERRORS = 8;
/** Characters of a default, as JSON, that are made in the time of one check. */
const DEFAULT_PER_CHECK = 8;

const NO_LIMITS = { depth: Infinity, nesting: Infinity, nodes: Infinity };

export interface CheckingWork {
  /** True: checking the value could hold the event loop for longer than anything else may. */
  isCostly(value: unknown): boolean;
  /** Errors that a value can have at most, per part of it. */
  readonly errorsPerPart: number;
}

/** The schema must have passed lintSchema. */
export function checkingWork(schema: object): CheckingWork {
  const { nodes } = schemaGraph(schema, NO_LIMITS);
  const { order } = innermostFirst(nodes, ({ same }) => same);
  const [root] = nodes;
  const tracks = nodes.some((node) => node.schema['unevaluatedProperties'] !== undefined);
  const errorsPerPart =
    (root && checkingCosts(order, ENOUGH, (node) => weightOf(node, tracks)).get(root)) ?? 1;
  const catches = nodes.some((node) => CATCHES.some((keyword) => node.schema[keyword] !== undefined));
  const perPart = errorsPerPart * (catches ? COST_OF_ERRORS : 1);
  const maxParts = Math.floor(MAX_CHECKS / perPart);
  return { errorsPerPart, isCostly: (value) => countTokens(value, maxParts) >= maxParts };
}

/** Checks of one value by this sub-schema alone: each name that it lists is looked for, each default is made. */
function weightOf({ schema }: SchemaNode, tracks: boolean): number {
  const names =
    sizeOf(schema['properties']) + sizeOf(schema['required']) + sizeOf(schema['dependentSchemas']);
  const dependencies = dependentNames(schema['dependentRequired']) + dependentNames(schema['dependencies']);
  // Where members not looked at are asked for, each sub-schema notes those that it did look at.
  const noted = tracks ? names : 0;
  const patterns = sizeOf(schema['patternProperties']);
  return 1 + names + dependencies + noted + patterns + Math.ceil(defaultsOf(schema) / DEFAULT_PER_CHECK);
}

function sizeOf(keyword: unknown): number {
  return typeof keyword === 'object' && keyword !== null ? Object.keys(keyword).length : 0;
}

function dependentNames(keyword: unknown): number {
  if (typeof keyword !== 'object' || keyword === null) return 0;
  return Object.values(keyword).reduce<number>((sum, names) => sum + 1 + sizeOf(names), 0);
}

/** Characters of the defaults that Ajv would put into an empty value. */
function defaultsOf({ properties, items, prefixItems }: SchemaNode['schema']): number {
  let length = 0;
  for (const holder of [properties, items, prefixItems]) {
    if (typeof holder !== 'object' || holder === null) continue;
    for (const part of Object.values(holder)) {
      if (typeof part !== 'object' || part === null || !Object.hasOwn(part, 'default')) continue;
      length += JSON.stringify((part as { default: unknown }).default).length;
    }
  }
  return length;
}
