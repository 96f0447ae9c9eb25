// A call that was found in a text, as the wire shows it.
import type { TextCall } from '../../../formats/text/text-calls.ts';
import type { TextPlaces } from '../../../lib/text/text-places.ts';

export function wireTextCall(call: TextCall, places: TextPlaces) {
  const { tool, arguments: args, id, start, end, mends, refusal } = call;
  return {
    tool,
    arguments: args,
    ...(id !== undefined && { id }),
    position: start,
    end,
    ...places.of(start),
    mended: mends.map(({ kind, at }) => ({ kind, position: at })),
    ...(refusal !== undefined && { problem: problemOf(refusal, start) }),
  };
}

function problemOf({ reason, message, details }: NonNullable<TextCall['refusal']>, start: number) {
  const { position } = details;
  return { reason, message, position: typeof position === 'number' ? position : start };
}
