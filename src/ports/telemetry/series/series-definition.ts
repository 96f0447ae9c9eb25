// What a series is, as the tables of this folder say it: the one place where names, meanings and labels stand.
import type { MetricDefinition } from '../metrics.ts';

type Unnamed = Omit<MetricDefinition, 'name'>;
export type SeriesDefinition =
  | (Unnamed & { readonly type: 'counter' | 'gauge' })
  | (Unnamed & { readonly type: 'histogram'; readonly buckets: readonly number[] });

/** Each definition under its name, with the name in it, as the port Metrics takes it. */
type Named<Table> = { readonly [Name in keyof Table]: Table[Name] & { readonly name: Name } };

export function named<const Table extends Readonly<Record<`ute_${string}`, SeriesDefinition>>>(
  table: Table,
): Named<Table> {
  const entries = Object.entries(table).map(([name, definition]) => [name, { ...definition, name }]);
  return Object.fromEntries(entries) as Named<Table>;
}
