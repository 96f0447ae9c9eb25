// Which tools fail so often that somebody should look at them, and what usually mends it.
import type { ErrorType } from '../../contract/call/error-types.ts';
import type { CallAnalytics } from '../../ports/calls/call-analytics.ts';
import type { Suggestion } from './suggestion.ts';

/** Fewer are no pattern, and neither is a smaller part of a tool's calls. */
const LEAST_CALLS = 3;
const LEAST_SHARE = 0.1;

const MENDS: Partial<Record<ErrorType, string>> = {
  VALIDATION:
    'say in the descriptions of its parameters what they take, with an example, and allow in its schema what callers rightly send',
  AUTH: 'look at its connection: the credential is refused or has expired',
  PERMISSION_DENIED: 'grant what callers lack, or show the tool to those alone who may call it',
  NOT_FOUND: 'say in its description where ids and names come from',
  MODE_RESTRICTED: 'offer it only in the modes that it serves (`metadata.modes`)',
  BUDGET_EXCEEDED: 'raise the budget, or have fewer calls made for one answer (a composite tool, a plan)',
  RATE_LIMIT: 'raise the limit, keep answers (`extensions.cache`), or have fewer calls made for one answer',
  CONCURRENCY_LIMIT: 'raise `concurrency.limit`, or make it faster',
  CONFLICT: 'look whether callers repeat calls with other arguments under one idempotency key',
  TIMEOUT: 'make it faster, raise `timeout_ms`, or have it called for later (`Prefer: respond-async`)',
  UNAVAILABLE: 'look at its upstream and at its circuit (`ute top`), and give it a fallback',
  OUTCOME_UNKNOWN: 'look at its calls (`/v1/calls`) and say what became of them',
  OUTPUT_INVALID: 'its answers do not fit its `output_schema`: mend whichever is wrong',
  OUTPUT_TOO_LARGE: 'have it answer with less: a filter, a page, fewer fields',
  TRANSIENT: 'give it `retries` where it may be repeated, and a fallback',
  PERMANENT: 'look at the log of one of its calls: its own code or its upstream refuses',
  INTERNAL: 'look at the log of one of its calls: the gateway itself failed',
};

/** Those with the most failed calls first, of tools for which `isKnown`. */
export function suggestMending(
  { byTool, failures }: Pick<CallAnalytics, 'byTool' | 'failures'>,
  isKnown: (tool: string) => boolean,
): readonly Suggestion[] {
  const callsOf = new Map(byTool.map(({ tool, calls }) => [tool, calls]));
  return failures.flatMap(({ tool, errorType, reason, calls }) => {
    const all = callsOf.get(tool) ?? 0;
    const share = all === 0 ? 0 : calls / all;
    if (!isKnown(tool) || calls < LEAST_CALLS || share < LEAST_SHARE || errorType === 'CANCELLED') return [];
    const mend = MENDS[errorType as ErrorType] ?? 'look at the log of one of its calls';
    const text = `${calls} of ${all} calls of ${tool} failed with ${errorType}: ${mend}.`;
    return [{ kind: 'mend' as const, tools: [tool], sessions: 0, calls, share, errorType, reason, text }];
  });
}
