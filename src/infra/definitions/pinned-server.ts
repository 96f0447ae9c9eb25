// What is kept of one server, and how a new list changes it. Pure.
import type {
  DefinitionListing,
  DefinitionRecord,
  DefinitionState,
  ListedDefinition,
  PinnedDefinition,
} from '../../ports/registry/trusted-definitions.ts';

export interface PinnedServer {
  readonly server: string;
  readonly records: readonly DefinitionRecord[];
}

export function afterListing(
  before: PinnedServer | undefined,
  { server, definitions, pinFirst }: DefinitionListing,
  now: number,
): PinnedServer {
  const pins = new Map(before?.records.map((record) => [record.remoteName, record]));
  const records = definitions.map((listed) => {
    const pinned =
      before === undefined && pinFirst ? atFirstSight(listed, now) : pins.get(listed.remoteName)?.pinned;
    pins.delete(listed.remoteName);
    return recordOf(server, listed, pinned);
  });
  const gone = [...pins.values()].flatMap(({ seen: _gone, ...record }) =>
    record.pinned === undefined ? [] : [{ ...record, state: 'gone' as const }],
  );
  return { server, records: [...records, ...gone] };
}

export function approved(
  { seen: _now, ...record }: DefinitionRecord,
  pinned: PinnedDefinition,
): DefinitionRecord {
  return { ...record, pinned, state: 'pinned' };
}

function atFirstSight({ seen }: ListedDefinition, at: number): PinnedDefinition | undefined {
  return 'refused' in seen ? undefined : { ...seen, at, by: '' };
}

function recordOf(
  server: string,
  { tool, remoteName, seen }: ListedDefinition,
  pinned: PinnedDefinition | undefined,
): DefinitionRecord {
  const isSame = pinned !== undefined && 'hash' in seen && seen.hash === pinned.hash;
  const state: DefinitionState = pinned === undefined ? 'new' : isSame ? 'pinned' : 'changed';
  return { server, tool, remoteName, state, ...(pinned && { pinned }), ...(!isSame && { seen }) };
}
