// Why a call has no result, in words that a model can act upon: what to mend and where, when to try again, who has to decide first.
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import type { ToolError, ToolRefusal } from '../../contract/call/tool-response.ts';

/** The type may be one that a record says. */
export type ToldError = Pick<ToolError, 'message' | 'retryAfterMs' | 'details'> & { readonly type: string };

export function refusalText(refusal: ToolRefusal): string {
  const { type } = refusal.error;
  return type === 'CONFIRMATION_REQUIRED' ? waitingText(refusal) : refusalLines(refusal.error).join('\n');
}

/** What went wrong, and where; nothing of approvals, about which each door has a word of its own. */
export function refusalLines({ type, message, retryAfterMs, details }: ToldError): readonly string[] {
  const places = placesOf(details).filter((place) => !message.includes(place));
  const again =
    retryAfterMs === null ? [] : [`Try again in ${Math.max(1, Math.ceil(retryAfterMs / 1000))} s.`];
  return [`${type}: ${message}`, ...places, ...again];
}

function placesOf({ violations }: JsonObject): readonly string[] {
  if (!Array.isArray(violations)) return [];
  return violations.flatMap((each) => {
    if (!isJsonObject(each) || typeof each['message'] !== 'string') return [];
    const { pointer, message } = each;
    return [typeof pointer === 'string' && pointer !== '' ? `${pointer} ${message}` : message];
  });
}

/** The token is for the program that runs the model, which has it in the envelope: a model has no use for it. */
function waitingText({ error: { type, details } }: ToolRefusal): string {
  const { approval_id: id, expires_at: until } = details;
  const time = typeof until === 'string' ? `, until ${until}` : '';
  const which = typeof id === 'string' ? ` (approval ${id}${time})` : '';
  return (
    `${type}: The call has not run: a person has to approve it first${which}. Making it again only asks once more: ` +
    'go on without its result, or say that it waits.'
  );
}
