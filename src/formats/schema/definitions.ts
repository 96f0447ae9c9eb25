// Definitions: which entries of `$defs` are used, and which of them lead back to themselves.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import { HOLDS_LIST, HOLDS_MAP, HOLDS_ONE } from './sub-schemas.ts';

/** The schema without the entries that nothing in it refers to. All references are to entries of `$defs`. */
export function withUsedDefinitions(root: JsonSchema): JsonSchema {
  const { $defs, ...rest } = root;
  if (!isJsonObject($defs)) return root;
  const byName = referencesByName($defs);
  const used = new Set(references(rest));
  for (const name of used) for (const next of byName.get(name) ?? []) used.add(next);
  if (used.size === Object.keys($defs).length) return root;
  const kept = Object.entries($defs).filter(([name]) => used.has(name));
  return kept.length === 0 ? rest : { ...rest, $defs: Object.fromEntries(kept) };
}

/** The entries that lead back to themselves, each with all those that lead there and back, itself included. */
export function cycles(root: JsonSchema): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const group of new Circles(referencesByName(definitionsOf(root))).groups())
    for (const name of group) found.set(name, group);
  return found;
}

type References = ReadonlyMap<string, ReadonlySet<string>>;

/** Tarjan's strongly connected components: each entry and each reference is looked at once. */
class Circles {
  readonly #references: References;
  readonly #indices = new Map<string, number>();
  readonly #lowest = new Map<string, number>();
  readonly #stack: string[] = [];
  readonly #groups: ReadonlySet<string>[] = [];

  constructor(all: References) {
    this.#references = all;
  }

  groups(): readonly ReadonlySet<string>[] {
    for (const name of this.#references.keys()) if (!this.#indices.has(name)) this.#visit(name);
    return this.#groups;
  }

  #visit(name: string): void {
    const index = this.#indices.size;
    this.#indices.set(name, index);
    this.#lowest.set(name, index);
    this.#stack.push(name);
    for (const next of this.#references.get(name) ?? []) {
      if (!this.#references.has(next)) continue;
      if (!this.#indices.has(next)) this.#visit(next);
      else if (!this.#stack.includes(next)) continue;
      this.#lowest.set(name, Math.min(this.#lowest.get(name) ?? 0, this.#lowest.get(next) ?? 0));
    }
    if (this.#lowest.get(name) !== index) return;
    const group = new Set(this.#stack.splice(this.#stack.indexOf(name)));
    if (group.size > 1 || this.#references.get(name)?.has(name) === true) this.#groups.push(group);
  }
}

export function definitionsOf({ $defs }: JsonSchema): JsonObject {
  return isJsonObject($defs) ? $defs : {};
}

function referencesByName(definitions: JsonObject): References {
  return new Map(Object.entries(definitions).map(([name, part]) => [name, references(part)]));
}

/** Names of the entries that a schema refers to, in whatever of its parts. */
export function references(schema: JsonValue): ReadonlySet<string> {
  const names = new Set<string>();
  collect(schema, names);
  return names;
}

function collect(schema: JsonValue, names: Set<string>): void {
  if (!isJsonObject(schema)) return;
  const name = definitionNamed(schema['$ref']);
  if (name !== undefined) names.add(name);
  for (const [keyword, value] of Object.entries(schema)) {
    if (HOLDS_ONE.has(keyword)) collect(value, names);
    else if (HOLDS_LIST.has(keyword) && Array.isArray(value)) for (const part of value) collect(part, names);
    else if (HOLDS_MAP.has(keyword) && isJsonObject(value))
      for (const part of Object.values(value)) collect(part, names);
  }
}

function definitionNamed(ref: JsonValue | undefined): string | undefined {
  return typeof ref === 'string' && ref.startsWith('#/$defs/') ? ref.slice('#/$defs/'.length) : undefined;
}
