// What a parsed statement or expression refers to: functions, operators, relations and types, by their oids.
import { constantOf, isNode, listOf, nodesOf, only, type TreeNode, type TreeValue } from './node-tree.ts';
import { Unfit } from './unfit.ts';

export interface References {
  /** With the first argument of each place where it is called, if that is a constant. */
  readonly functions: Map<number, (string | undefined)[]>;
  readonly operators: Set<number>;
  readonly relations: Set<number>;
  readonly types: Set<number>;
}

export function noReferences(): References {
  return { functions: new Map(), operators: new Set(), relations: new Set(), types: new Set() };
}

/** All that parse analysis makes, in PostgreSQL 14 to 18. What else there may be could call what nobody looks for. */
const KNOWN_TAGS: ReadonlySet<string> = new Set(
  (
    'QUERY RTE RANGETBLENTRY RTEPERMISSIONINFO RANGETBLFUNCTION TABLESAMPLECLAUSE TABLEFUNC ALIAS RANGETBLREF ' +
    'JOINEXPR FROMEXPR ONCONFLICTEXPR TARGETENTRY SORTGROUPCLAUSE GROUPINGSET WINDOWCLAUSE ROWMARKCLAUSE ' +
    'COMMONTABLEEXPR CTESEARCHCLAUSE CTECYCLECLAUSE SETOPERATIONSTMT MERGEACTION INFERENCEELEM ' +
    'VAR CONST PARAM AGGREF GROUPINGFUNC WINDOWFUNC SUBSCRIPTINGREF FUNCEXPR NAMEDARGEXPR OPEXPR DISTINCTEXPR ' +
    'NULLIFEXPR SCALARARRAYOPEXPR BOOLEXPR SUBLINK FIELDSELECT FIELDSTORE RELABELTYPE COERCEVIAIO ARRAYCOERCEEXPR ' +
    'CONVERTROWTYPEEXPR COLLATE COLLATEEXPR CASE CASEEXPR WHEN CASEWHEN CASETESTEXPR ARRAY ARRAYEXPR ROW ROWEXPR ' +
    'ROWCOMPARE ROWCOMPAREEXPR COALESCE COALESCEEXPR MINMAX MINMAXEXPR SQLVALUEFUNCTION XMLEXPR NULLTEST ' +
    'BOOLEANTEST COERCETODOMAIN COERCETODOMAINVALUE SETTODEFAULT NEXTVALUEEXPR ' +
    'JSONFORMAT JSONRETURNING JSONVALUEEXPR JSONCONSTRUCTOREXPR JSONISPREDICATE JSONBEHAVIOR JSONEXPR ' +
    'JSONTABLEPATH JSONTABLEPATHSCAN JSONTABLESIBLINGJOIN MERGESUPPORTFUNC RETURNINGEXPR'
  ).split(' '),
);

const FUNCTION_FIELDS: ReadonlySet<string> = new Set([
  'funcid',
  'opfuncid',
  'hashfuncid',
  'negfuncid',
  'aggfnoid',
  'winfnoid',
  'startInRangeFunc',
  'endInRangeFunc',
  'tsmhandler',
]);
const OPERATOR_FIELDS: ReadonlySet<string> = new Set(['opno', 'opnos', 'eqop', 'sortop', 'cycle_mark_neop']);
const RELATION_FIELDS: ReadonlySet<string> = new Set(['relid', 'seqid']);
/** `vartype`, `funccoltypes`, `array_typeid` … Small numbers among them are no types, and stand for nothing. */
const TYPE_FIELD = /typ(?:e|es|id)s?$/i;

/** Types whose values are names of the catalog, and the functions that look the names up in it. */
const LOOKUPS: ReadonlyMap<number, number> = new Map([
  [24, 44],
  [2202, 2212],
  [2203, 2214],
  [2204, 2216],
  [2205, 2218],
  [2206, 2220],
  [4089, 4084],
  [4096, 4098],
  [4191, 4193],
]);

/** Adds what the tree refers to. Throws Unfit for a tree with parts that are not known. */
export function addReferences(roots: readonly TreeValue[], to: References): void {
  for (const node of nodesOf(roots)) {
    if (!KNOWN_TAGS.has(node.tag))
      throw new Unfit(`What the server made of the statement holds a part that is not known: ${node.tag}.`);
    for (const [field, values] of node.fields) addField(node, field, values, to);
    const lookup = LOOKUPS.get(readType(node));
    if (lookup !== undefined) addFunction(to, lookup);
  }
}

function addField(node: TreeNode, field: string, values: readonly TreeValue[], to: References): void {
  if (FUNCTION_FIELDS.has(field)) {
    for (const oid of oidsOf(node, field, values)) addFunction(to, oid, firstArgumentOf(node, field));
  } else if (OPERATOR_FIELDS.has(field)) {
    for (const oid of oidsOf(node, field, values)) to.operators.add(oid);
  } else if (RELATION_FIELDS.has(field)) {
    for (const oid of oidsOf(node, field, values)) to.relations.add(oid);
  } else if (TYPE_FIELD.test(field)) {
    for (const oid of numbersOf(values)) to.types.add(oid);
  }
}

/** The type that a text is read as: an argument, or what a cast without a function makes of it. */
function readType(node: TreeNode): number {
  if (node.tag === 'PARAM') return Number(only(node, 'paramtype'));
  return node.tag === 'COERCEVIAIO' ? Number(only(node, 'resulttype')) : 0;
}

export function addFunction({ functions }: References, oid: number, firstArgument?: string): void {
  const known = functions.get(oid);
  if (known === undefined) functions.set(oid, [firstArgument]);
  else known.push(firstArgument);
}

function firstArgumentOf(node: TreeNode, field: string): string | undefined {
  return field === 'funcid' ? constantOf(listOf(node, 'args')[0]) : undefined;
}

function oidsOf(node: TreeNode, field: string, values: readonly TreeValue[]): readonly number[] {
  const isEmptyList = values.length === 1 && values[0] === '<>';
  const oids = numbersOf(values);
  if (oids.length === 0 && !isEmptyList)
    throw new Unfit(`What the server made of the statement cannot be read: ${node.tag} has no ${field}.`);
  return oids.filter((oid) => oid !== 0);
}

/** One number, or a list such as `(o 96 97)`. */
function numbersOf(values: readonly TreeValue[]): readonly number[] {
  return values
    .flatMap((value) => (typeof value === 'string' || isNode(value) ? [value] : value))
    .filter((value): value is string => typeof value === 'string' && /^\d+$/.test(value))
    .map(Number);
}
