// The schema linter: what must hold before a schema is compiled, so that none can hang or kill the process.
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { fromPointer, type JsonPath } from '../../json/json-pointer.ts';
import { dialectOf, newMetaAjv, type Dialect } from '../ajv-instance.ts';
import { checkingCosts, expandedSize, innermostFirst } from './schema-cost.ts';
import { hiddenNameProblems } from './hidden-names.ts';
import { patternWeightProblems } from './pattern-weight.ts';
import { schemaGraph, type SchemaNode, type SchemaProblem } from './schema-graph.ts';
import { keywordProblems } from './schema-keywords.ts';
import { excessOf } from './schema-size.ts';
import { violationOf } from '../violation.ts';
import { IN_THREAD, renewBudget } from '../work-budget.ts';

export type { SchemaProblem } from './schema-graph.ts';

const SIZE = { bytes: 64 * 1024, depth: 64 };
/** V8 gives up on code with some thousand nested blocks. */
const GRAPH = { depth: 24, nesting: 500, nodes: 2_000 };
/** Sub-schemas after references are written out, and checks along one branch of a value. */
const MAX_COST = 10_000;
/** Ajv keeps an error for each item that `contains` does not match, until one does. */
const MAX_CONTAINS_ERRORS = 2_000_000;
const MAX_ITEMS = 50_000;
const MAX_PROBLEMS = 20;

/** Empty: the schema can be compiled and used on any value within the gateway's limits. Never throws. */
export function lintSchema(schema: unknown): readonly SchemaProblem[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    return [{ path: [], message: 'must be a JSON Schema: an object' }];
  }
  const excess = excessOf(schema, SIZE);
  if (excess !== undefined) return [{ path: [], message: excess }];
  const { nodes, strays, problems } = schemaGraph(schema, GRAPH);
  const heavy = patternWeightProblems(nodes);
  if (heavy.length > 0) return heavy;
  const keywords = nodes.flatMap(keywordProblems);
  // The graph takes malformed keywords for absent; here they are named.
  const found = [...problems, ...keywords, ...metaProblems(schema, strays)];
  if (found.length > 0) return found.slice(0, MAX_PROBLEMS);
  const hidden = hiddenNameProblems(schema, nodes);
  return hidden.length > 0 ? hidden.slice(0, MAX_PROBLEMS) : costProblems(nodes);
}

function costProblems(nodes: readonly SchemaNode[]): SchemaProblem[] {
  // Without references the limit of sub-schemas is limit enough.
  const refers = nodes.some(({ schema }) => schema['$ref'] !== undefined);
  const containers = nodes.filter(({ schema }) => schema['contains'] !== undefined);
  const [root] = nodes;
  if (root === undefined || (!refers && containers.length === 0)) return [];
  const { order, loop } = innermostFirst(nodes, ({ same }) => same);
  if (loop !== undefined)
    return [{ path: loop.path, message: 'leads back to itself for the same value, without an end' }];
  if (refers && expandedSize(root, MAX_COST) > MAX_COST) {
    return [
      {
        path: [],
        message: `has more than ${MAX_COST} sub-schemas once its references are written out: too many branches`,
      },
    ];
  }
  const costs = checkingCosts(order, MAX_COST);
  if ((costs.get(root) ?? 0) > MAX_COST) {
    return [
      {
        path: [],
        message: `may take more than ${MAX_COST} checks of one value: too many branches look at the same part of it`,
      },
    ];
  }
  return containers
    .filter((node) => isWasteful(node, costs))
    .map(({ path }) => ({
      path: [...path, 'contains'],
      message:
        'needs a smaller maxItems beside it: it has many branches, and each item is checked by all of them',
    }));
}

function isWasteful({ schema, items }: SchemaNode, costs: ReadonlyMap<SchemaNode, number>): boolean {
  const contained = items.find(({ node }) => node.path.at(-1) === 'contains');
  const maxItems = typeof schema['maxItems'] === 'number' ? schema['maxItems'] : MAX_ITEMS;
  return contained !== undefined && (costs.get(contained.node) ?? 0) * maxItems > MAX_CONTAINS_ERRORS;
}

/** One per dialect, made at its first schema: compiling a meta-schema takes milliseconds. */
const metaAjvs = new Map<Dialect, Ajv>();

/** Types, ranges and spellings of the keywords, by the meta-schema. */
function metaProblems(schema: object, strays: readonly SchemaNode[]): SchemaProblem[] {
  const dialect = dialectOf(schema);
  if (dialect === undefined) return [];
  let ajv = metaAjvs.get(dialect);
  if (ajv === undefined) {
    ajv = newMetaAjv(dialect);
    metaAjvs.set(dialect, ajv);
  }
  const meta = ajv.getSchema(META_SCHEMA[dialect]);
  if (meta === undefined) throw new Error(`Ajv has no meta-schema of ${dialect}`);
  return [{ schema, path: [] }, ...strays].flatMap((each) => misspelt(meta, each));
}

/** One problem for each place: the first is the plainest. */
function misspelt(
  meta: ValidateFunction,
  { schema, path }: { schema: object; path: JsonPath },
): SchemaProblem[] {
  // What is read here is at most 64 KiB.
  renewBudget(IN_THREAD);
  if (meta(schema) === true) return [];
  const firstAt = new Map<string, ErrorObject>();
  for (const error of meta.errors ?? [])
    if (!firstAt.has(error.instancePath)) firstAt.set(error.instancePath, error);
  return [...firstAt.values()].slice(0, MAX_PROBLEMS).map((error) => {
    const { pointer, message } = violationOf(error, schema);
    return { path: [...path, ...pathIn(schema, pointer)], message };
  });
}

const META_SCHEMA: { readonly [D in Dialect]: string } = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema',
};

/** The pointer's steps, those into arrays as numbers. */
function pathIn(schema: object, pointer: string): JsonPath {
  let value: unknown = schema;
  return fromPointer(pointer).map((step) => {
    const index = Array.isArray(value) ? Number(step) : step;
    value =
      typeof value === 'object' && value !== null ? (value as { [step: string]: unknown })[step] : undefined;
    return index;
  });
}
