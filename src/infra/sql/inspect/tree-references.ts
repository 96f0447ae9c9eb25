// What a parsed statement or expression refers to: functions, operators, relations and types, by their oids.
import { constantOf, isNode, listOf, nodesOf, only, type TreeNode, type TreeValue } from './node-tree.ts';
import { Unfit } from './unfit.ts';

export interface Call {
  /** If it is a constant. */
  readonly firstArgument?: string | undefined;
  /** No column and no parameter is among its arguments: a planner may replace the call by what it gives. */
  readonly foldable: boolean;
}

export interface References {
  /** With each place where it is called. */
  readonly functions: Map<number, Call[]>;
  readonly operators: Set<number>;
  readonly relations: Set<number>;
  readonly types: Set<number>;
  /** Those that a text or a number is made a value of, so that what reads it runs. */
  readonly made: Set<number>;
  /** Relations of which rows are updated or deleted. */
  readonly changes: Changes;
}

export type Change = 'update' | 'delete';
export type Changes = Map<number, Set<Change>>;

export function noReferences(): References {
  return {
    functions: new Map(),
    operators: new Set(),
    relations: new Set(),
    types: new Set(),
    made: new Set(),
    changes: new Map(),
  };
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

/** Of somebody's own making from here on; what comes with PostgreSQL is judged by its name, and not followed. */
export const FIRST_OWN_OID = 16_384;

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

/** How the grammar numbers the commands: a query of each kind has the relation that it changes in its list. */
const COMMANDS: Readonly<Record<string, readonly Change[]>> = {
  2: ['update'],
  4: ['delete'],
  5: ['update', 'delete'],
};
const INSERT = '3';
const ON_CONFLICT_UPDATE = '2';

/** Adds what the tree refers to. Throws Unfit for a tree with parts that are not known. */
export function addReferences(roots: readonly TreeValue[], to: References): void {
  for (const node of nodesOf(roots)) {
    if (!KNOWN_TAGS.has(node.tag))
      throw new Unfit(`What the server made of the statement holds a part that is not known: ${node.tag}.`);
    for (const [field, values] of node.fields) addField(node, field, values, to);
    for (const oid of madeBy(node)) to.made.add(oid);
    if (node.tag === 'QUERY') addChanges(node, to.changes);
  }
}

function addField(node: TreeNode, field: string, values: readonly TreeValue[], to: References): void {
  if (FUNCTION_FIELDS.has(field)) {
    const call = callOf(node, field);
    for (const oid of oidsOf(node, field, values)) addFunction(to, oid, call);
  } else if (OPERATOR_FIELDS.has(field)) {
    for (const oid of oidsOf(node, field, values)) to.operators.add(oid);
  } else if (RELATION_FIELDS.has(field)) {
    for (const oid of oidsOf(node, field, values)) to.relations.add(oid);
  } else if (TYPE_FIELD.test(field)) {
    for (const oid of numbersOf(values)) to.types.add(oid);
  }
}

/**
 * The types of an argument, of a cast, of columns that are made of JSON, XML or a record. What a query reads from a table
 * as it stands there was made by somebody else.
 */
function madeBy(node: TreeNode): readonly number[] {
  const { tag } = node;
  const oids = (field: string) => numbersOf(node.fields.get(field) ?? []).filter((oid) => oid !== 0);
  if (tag === 'PARAM') return oids('paramtype');
  if (tag === 'COERCEVIAIO') return oids('resulttype');
  if (tag === 'RELABELTYPE') return isKnownName(only(node, 'arg')) ? [] : oids('resulttype');
  if (tag === 'RANGETBLFUNCTION') return oids('funccoltypes');
  if (tag === 'TABLEFUNC') return oids('coltypes');
  if (tag === 'JSONRETURNING') return oids('typid');
  if (tag !== 'FUNCEXPR') return [];
  const isCast = only(node, 'funcformat') !== '0';
  // A builtin that gives a type of somebody's own making fills it, as jsonb_populate_record() does.
  const fills = Number(only(node, 'funcid')) < FIRST_OWN_OID;
  return oids('funcresulttype').filter((oid) => isCast || (fills && oid >= FIRST_OWN_OID));
}

/** A constant, or the table that a row stands in (`tableoid`). */
function isKnownName(value: TreeValue | undefined): boolean {
  if (!isNode(value)) return false;
  return value.tag === 'CONST' || (value.tag === 'VAR' && only(value, 'varattno') === '-6');
}

function addChanges(query: TreeNode, changes: Changes): void {
  const field = only(query, 'commandType');
  const command = typeof field === 'string' ? field : '';
  const conflict = only(query, 'onConflict');
  const updates = isNode(conflict) && only(conflict, 'action') === ON_CONFLICT_UPDATE;
  const kinds: readonly Change[] = command === INSERT && updates ? ['update'] : (COMMANDS[command] ?? []);
  if (kinds.length === 0) return;
  const target = listOf(query, 'rtable')[Number(only(query, 'resultRelation')) - 1];
  const relation = isNode(target) ? Number(only(target, 'relid')) : Number.NaN;
  if (!(relation > 0))
    throw new Unfit('What the server made of the statement does not say which table it changes.');
  for (const kind of kinds) addChange(changes, relation, kind);
}

/** Whether it was new. */
export function addChange(changes: Changes, relation: number, kind: Change): boolean {
  const known = changes.get(relation);
  if (known?.has(kind)) return false;
  if (known === undefined) changes.set(relation, new Set([kind]));
  else known.add(kind);
  return true;
}

/** What the outermost query of a view reads: what is changed through the view is changed there. */
export function relationsOfView(roots: readonly TreeValue[]): readonly number[] {
  return roots
    .flatMap((root) => (typeof root === 'string' || isNode(root) ? [root] : root))
    .flatMap((query) => (isNode(query) ? listOf(query, 'rtable') : []))
    .flatMap((entry) => (isNode(entry) ? numbersOf(entry.fields.get('relid') ?? []) : []))
    .filter((oid) => oid !== 0);
}

const UNSEEN: Call = { foldable: false };

export function addFunction({ functions }: References, oid: number, call: Call = UNSEEN): void {
  const known = functions.get(oid);
  if (known === undefined) functions.set(oid, [call]);
  else known.push(call);
}

function callOf(node: TreeNode, field: string): Call {
  const args = listOf(node, 'args');
  const isCall = FOLDED.has(node.tag);
  return {
    firstArgument: field === 'funcid' ? constantOf(args[0]) : undefined,
    foldable: isCall && !hasVariable(args),
  };
}

const FOLDED: ReadonlySet<string> = new Set([
  'FUNCEXPR',
  'OPEXPR',
  'DISTINCTEXPR',
  'NULLIFEXPR',
  'SCALARARRAYOPEXPR',
]);

function hasVariable(args: readonly TreeValue[]): boolean {
  for (const { tag } of nodesOf(args)) if (tag === 'VAR' || tag === 'PARAM') return true;
  return false;
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
