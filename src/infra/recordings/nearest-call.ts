// The recorded call that is nearest to one that was not recorded, and what is different: for whoever looks for the reason.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { jsonChanges, type JsonChange } from '../../lib/json/json-changes.ts';
import type { NearestCall, NearestChange, RecordedCall } from '../../ports/recordings.ts';

/** Every miss pays for the search: it looks at so many calls, and at so much of their arguments. */
const MAX_CANDIDATES = 200;
const MAX_CHARS = 1 << 20;
const MAX_CHANGES = 50;
const SHOWN_CHANGES = 5;
const SHOWN_CHARS = 80;

/** The first of those that are equally near. Undefined: nothing was recorded of this tool. */
export function nearestCall(
  args: JsonObject,
  cursor: string | undefined,
  recorded: readonly RecordedCall[],
): NearestCall | undefined {
  let nearest: { readonly call: RecordedCall; readonly changes: readonly JsonChange[] } | undefined;
  const seen = new Set<string>();
  let chars = 0;
  for (const call of recorded) {
    if (seen.has(call.argumentsHash)) continue;
    seen.add(call.argumentsHash);
    chars += JSON.stringify(call.arguments).length;
    if (seen.size > MAX_CANDIDATES || (chars > MAX_CHARS && nearest !== undefined)) break;
    const changes = differences(call, args, cursor);
    if (nearest === undefined || changes.length < nearest.changes.length) nearest = { call, changes };
  }
  if (nearest === undefined) return undefined;
  const { call, changes } = nearest;
  return {
    order: call.order,
    changes: changes.slice(0, SHOWN_CHANGES).map(shownChange),
    more: Math.max(0, changes.length - SHOWN_CHANGES),
  };
}

/** A member that is there on one side alone counts once, whatever is in it. */
function differences(
  call: RecordedCall,
  args: JsonObject,
  cursor: string | undefined,
): readonly JsonChange[] {
  const changes = jsonChanges(call.arguments, args, MAX_CHANGES);
  if (changes.length > 0 || call.cursor === cursor) return changes;
  return [
    {
      pointer: '/context/cursor',
      ...(call.cursor && { before: call.cursor }),
      ...(cursor && { after: cursor }),
    },
  ];
}

function shownChange({ pointer, before, after }: JsonChange): NearestChange {
  return {
    pointer: shortened(pointer),
    ...(before !== undefined && { recorded: shownValue(before) }),
    ...(after !== undefined && { asked: shownValue(after) }),
  };
}

function shownValue(value: JsonValue): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return `an object of ${Object.keys(value).length}`;
  return shortened(JSON.stringify(value));
}

function shortened(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}
