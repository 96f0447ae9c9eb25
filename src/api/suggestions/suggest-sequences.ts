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
export function suggestPlans(
  sequences: readonly CallSequence[],
  isAsked: IsAsked,
  most = Infinity,
): readonly Suggestion[] {
  const kept: CallSequence[] = [];
  /** In how many sessions, at most, a sequence is part of one that was kept: comparing each with each would take seconds. */
  const within = new Map<string, number>();
  const keyOf = shortKeys();
  const candidates = sequences
    .filter(({ tools }) => tools.length > 1 && tools.some(isAsked) && new Set(tools).size === tools.length)
    .toSorted((a, b) => b.tools.length - a.tools.length || b.sessions - a.sessions);
  for (const each of candidates) {
    const { tools, sessions } = each;
    const key = keyOf(tools);
    if ((within.get(key) ?? 0) >= NEARLY * sessions) continue;
    kept.push(each);
    for (const part of partsOf(key)) within.set(part, Math.max(within.get(part) ?? 0, sessions));
  }
  return kept
    .toSorted((a, b) => saved(b) - saved(a))
    .slice(0, most)
    .map((found) => {
      const text = `${found.tools.join(', ')} were called one after another in ${found.sessions} sessions: a plan or a composite tool makes one call of them.`;
      return suggestion('plan', found, 0, text);
    });
}

function saved({ tools, calls }: CallSequence): number {
  return (tools.length - 1) * calls;
}

/** A character for each tool: parts of sequences are then parts of short texts. There are fewer tools than code units. */
function shortKeys(): (tools: readonly string[]) => string {
  const characters = new Map<string, string>();
  return (tools) => {
    let key = '';
    for (const tool of tools) {
      const character = characters.get(tool) ?? String.fromCharCode(characters.size);
      characters.set(tool, character);
      key += character;
    }
    return key;
  };
}

/** All of several tools that are shorter: what is as long is another, since each sequence is counted once. */
function partsOf(key: string): readonly string[] {
  const parts: string[] = [];
  for (let length = key.length - 1; length > 1; length -= 1)
    for (let from = 0; from + length <= key.length; from += 1) parts.push(key.slice(from, from + length));
  return parts;
}

function suggestion(
  kind: 'next' | 'plan',
  { tools, sessions, calls }: CallSequence,
  share: number,
  text: string,
): Suggestion {
  return { kind, tools, sessions, calls, share, errorType: '', reason: '', text };
}
