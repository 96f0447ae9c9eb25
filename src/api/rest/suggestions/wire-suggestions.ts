// Suggestions as REST shows them; gRPC shows the same fields.
import type { SuggestionsAsked } from '../../suggestions-view.ts';
import { wireCounted } from '../analytics/wire-figures.ts';
import { wire } from '../route/wire.ts';
import { Suggestion } from './schema.ts';

export function wireSuggestions(found: SuggestionsAsked) {
  return {
    ...wireCounted(found),
    suggestions: found.suggestions.map((each) => wire(Suggestion, each)),
  };
}
