// Provider names: the spelling of a function's name that every LLM provider accepts, reversible over one set of tools.
import { assigningSpellings, assignSpellings, isSpellingOf, type SpellingRules } from './spellings.ts';

/** What all providers take unchanged. Gemini wants a letter or an underscore in front. */
export const PROVIDER_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const RULES: SpellingRules = {
  accepted: PROVIDER_NAME,
  write: (name) => name.replaceAll('.', '__').replaceAll(/[^A-Za-z0-9_-]/g, '_'),
  isReadable: (name) => /^[A-Za-z0-9_.-]*$/.test(name),
};

/** `calendar.list_events` is written `calendar__list_events`; see assignSpellings. */
export function assignProviderNames(names: readonly string[]): ReadonlyMap<string, string> {
  return assignSpellings(names, RULES);
}

/** The same, with a turn for everything else in between. */
export function assigningProviderNames(
  names: readonly string[],
): Generator<void, ReadonlyMap<string, string>> {
  return assigningSpellings(names, RULES);
}

/** Whether one of them may be written as the other, in some set of tools. */
export function mayNameTheSame(one: string, other: string): boolean {
  return one === other || isSpellingOf(one, other, RULES) || isSpellingOf(other, one, RULES);
}
