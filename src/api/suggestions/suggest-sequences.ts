// What follows from tools that sessions call one after another: which to offer next, and which would be one plan.
import type { CallSequence } from '../../ports/calls/call-sequences.ts';
import type { Suggestion } from './suggestion.ts';

/** Below it what followed was rather chance. */
const LEAST_SHARE = 0.25;
/** A longer sequence that nearly as many sessions had says more than the shorter one in it. */
const NEARLY = 0.8;

type IsAsked = (tool: string) => boolean;

/** After which tool which other one was called next, the surest first. */
export function suggestNext(sequences: readonly CallSequence[], isAsked: IsAsked): readonly Suggestion[] {
  const sessionsWith = new Map(
    sequences.flatMap(({ tools, sessions }) => (tools.length === 1 ? [[tools[0], sessions]] : [])),
  );
  return sequences
    .flatMap(({ tools, sessions, calls }) => {
      const [after = '', next = ''] = tools;
      const all = sessionsWith.get(after) ?? 0;
      const share = all === 0 ? 0 : Math.min(1, sessions / all);
      if (tools.length !== 2 || share < LEAST_SHARE || !isAsked(after)) return [];
      const text = `After ${after}, ${next} was called next in ${sessions} of ${all} sessions: offer it then.`;
      return [suggestion('next', { tools, sessions, calls }, share, text)];
    })
    .toSorted((a, b) => b.share - a.share || b.sessions - a.sessions);
}

/** Sequences that are one call less for each tool beyond the first, those that would save most first. */
export function suggestPlans(sequences: readonly CallSequence[], isAsked: IsAsked): readonly Suggestion[] {
  const kept: CallSequence[] = [];
  const candidates = sequences
    .filter(({ tools }) => tools.length > 1 && tools.some(isAsked) && new Set(tools).size === tools.length)
    .toSorted((a, b) => b.tools.length - a.tools.length || b.sessions - a.sessions);
  for (const each of candidates)
    if (!kept.some((longer) => holds(longer.tools, each.tools) && longer.sessions >= NEARLY * each.sessions))
      kept.push(each);
  return kept
    .toSorted((a, b) => saved(b) - saved(a))
    .map((found) => {
      const text = `${found.tools.join(', ')} were called one after another in ${found.sessions} sessions: a plan or a composite tool makes one call of them.`;
      return suggestion('plan', found, 0, text);
    });
}

function saved({ tools, calls }: CallSequence): number {
  return (tools.length - 1) * calls;
}

function holds(longer: readonly string[], shorter: readonly string[]): boolean {
  return longer.some((_, at) => shorter.every((tool, place) => longer[at + place] === tool));
}

function suggestion(
  kind: 'next' | 'plan',
  { tools, sessions, calls }: CallSequence,
  share: number,
  text: string,
): Suggestion {
  return { kind, tools, sessions, calls, share, errorType: '', reason: '', text };
}
