// What the catalog knows of functions, relations and types, as catalog-query.ts asks for it.
export interface CatalogAnswer {
  readonly functions: readonly CatalogFunction[];
  readonly relations: readonly CatalogRelation[];
  readonly types: readonly CatalogType[];
}

/** Texts named as trees are what the server made of an expression or a statement (pg_node_tree). */
export interface CatalogFunction {
  readonly oid: number;
  readonly name: string;
  readonly plainName: string;
  readonly builtin: boolean;
  readonly volatility: 'i' | 's' | 'v';
  readonly language: string;
  readonly securityDefiner: boolean;
  readonly settings: readonly string[];
  readonly extension: string | null;
  /** The body, where it is not text, and the defaults of arguments that a call leaves out. */
  readonly body: string | null;
  readonly defaults: string | null;
  /** The functions that an aggregate consists of. */
  readonly parts: readonly number[];
  readonly types: readonly number[];
}

export interface CatalogPolicy {
  readonly name: string;
  readonly permissive: boolean;
  readonly forAllCommands: boolean;
  readonly using: string | null;
  readonly check: string | null;
}

/** A foreign key elsewhere that points at the relation, and changes rows when rows here are updated or deleted. */
export interface CatalogKey {
  readonly oid: number;
  readonly name: string;
  /** The table that has the key. */
  readonly table: number;
  /** It points at another table, of which this one is a partition. */
  readonly inherited: boolean;
  /** `a` and `r` change nothing, `c` is CASCADE, `n` SET NULL, `d` SET DEFAULT. */
  readonly onUpdate: KeyAction;
  readonly onDelete: KeyAction;
  readonly pairs: readonly CatalogKeyPair[];
}

export type KeyAction = 'a' | 'r' | 'c' | 'n' | 'd';

export interface CatalogKeyPair {
  readonly column: string;
  readonly referenced: string;
  readonly operator: number;
  readonly collations: readonly number[];
  /** SET NULL and SET DEFAULT change this column when the row it points at is deleted. */
  readonly setOnDelete: boolean;
}

export interface CatalogRelation {
  readonly oid: number;
  readonly name: string;
  readonly kind: 'table' | 'view' | 'materialized view' | 'foreign table' | 'sequence';
  readonly system: boolean;
  readonly ownedByRole: boolean;
  readonly securityInvoker: boolean;
  readonly rowSecurity: boolean;
  readonly forced: boolean;
  readonly policies: readonly CatalogPolicy[];
  /** Names of the columns by their numbers. */
  readonly columns: Readonly<Record<string, string>>;
  readonly keys: readonly CatalogKey[];
  /** Those besides the one that makes a view. */
  readonly rules: readonly string[];
  /** What a read of it evaluates: a view's statement, generated columns that are not stored. */
  readonly onRead: readonly string[];
  /** What a change of it evaluates: defaults, checks, indexes, conditions of triggers. */
  readonly onWrite: readonly string[];
  readonly triggers: readonly number[];
  readonly types: readonly number[];
  /** Partitions, and tables that inherit from it. */
  readonly children: readonly number[];
}

export interface CatalogType {
  readonly oid: number;
  /** What it consists of. */
  readonly types: readonly number[];
  /** What makes a value of a text. */
  readonly input: { readonly oid: number; readonly name: string };
  /** A domain's checks and default. */
  readonly trees: readonly string[];
  /** Casts to JSON, which to_json() and its kind call by themselves. */
  readonly functions: readonly number[];
}

export interface CatalogCollation {
  readonly oid: number;
  readonly name: string;
}
