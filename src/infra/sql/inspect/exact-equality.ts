// Which of PostgreSQL's `=` say that two values are the same, and not only that they count as the same.

/** Names of the nondeterministic collations, under which texts that differ may be equal, by their oids. */
export type Collations = ReadonlyMap<number, string>;

/**
 * Of text, name, the integers, uuid and enums, by oids that never change. Not of char(n), which drops blanks, of numeric
 * and the floats (1 and 1.0), of citext and of operators of somebody's own making.
 */
const EXACT: ReadonlySet<number> = new Set([
  98, 93, 254, 260, 94, 96, 410, 15, 416, 532, 533, 1862, 1868, 2972, 3516,
]);

/** `collations`: those that the comparison goes by; 0 is none. */
export function isExact(operator: number, collations: readonly number[], loose: Collations): boolean {
  return EXACT.has(operator) && !collations.some((collation) => loose.has(collation));
}
