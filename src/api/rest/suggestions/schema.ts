// Suggestions on the wire: what calls say about which tools to offer, put together, mend and leave out.
import { z } from 'zod';
import { SUGGESTION_KINDS } from '../../suggestions/suggestion.ts';
import { analyticsQuery, countedCalls } from '../analytics/schema.ts';
import { json, route } from '../route/route.ts';
import { count, list, named, number, text } from '../route/shapes.ts';

export const Suggestion = named('Suggestion', () =>
  z.object({
    kind: z
      .enum(SUGGESTION_KINDS)
      .describe(
        'next: offer the second tool after the first. plan: make one tool of these. mend: it fails. unused: nobody calls it.',
      ),
    tools: list(text()).describe('In their order.'),
    sessions: count('In which it was seen; 0 of mend and unused.'),
    calls: count('How often; of mend: calls that failed so.'),
    share: number().describe(
      'From 0 to 1. next: of the sessions with the first tool. mend: of the calls of the tool.',
    ),
    error_type: text('Of mend; else empty.'),
    reason: text('Of mend; else empty.'),
    text: text('The same as a sentence.'),
  }),
);

const Suggestions = named('Suggestions', () =>
  z.object({
    ...countedCalls(),
    suggestions: list(Suggestion()).describe('By kind; the best first of each, and at most `top`.'),
  }),
);

export const suggestionsQuery = analyticsQuery;

export const getSuggestions = route({
  operationId: 'getSuggestions',
  method: 'get',
  path: '/v1/suggestions',
  tag: 'admin',
  summary:
    'What the calls of a tenant suggest: tools to offer next, to put together, to mend and to leave out',
  description:
    'Of the same records as `/v1/analytics`, asked with the same parameters. `tool`: what to offer after it, plans with it, and what it fails with.',
  query: suggestionsQuery,
  answers: { 200: json('What the calls suggest.', Suggestions) },
  problems: [400],
});
