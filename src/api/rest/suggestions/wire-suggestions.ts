// Suggestions as REST shows them; gRPC shows the same fields.
import type { SuggestionsAsked } from '../../suggestions-view.ts';
import { wire } from '../route/wire.ts';
import { Suggestion } from './schema.ts';

export function wireSuggestions(found: SuggestionsAsked) {
  return {
    tenant: found.tenant,
    from: found.from.toISOString(),
    to: found.to.toISOString(),
    counted_from: found.countedFrom.toISOString(),
    complete: found.isComplete,
    suggestions: found.suggestions.map((each) => wire(Suggestion, each)),
  };
}
