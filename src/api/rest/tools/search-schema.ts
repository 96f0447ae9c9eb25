// The search for tools on the wire.
import { z } from 'zod';
import { INTERACTION_MODES } from '../../../contract/tool/tool-spec.ts';
import { LONGEST_QUERY, MOST_FOUND, USUALLY_FOUND } from '../../../ports/registry/tool-search.ts';
import { json, route } from '../route/route.ts';
import { list, named, oneOf, shape, text, textOf, wholeNumber } from '../route/shapes.ts';
import { ForAgent, OfToolset, Tool } from './schema.ts';

const ToolsFound = named('ToolsFound', () =>
  z.object({ registry_version: text(), tools: list(Tool()).describe('The best first.') }),
);

const asNumber = (said: unknown) =>
  typeof said === 'string' && /^\d{1,4}$/.test(said) ? Number(said) : said;

export const searchTools = route({
  operationId: 'searchTools',
  method: 'get',
  path: '/v1/tools/search',
  tag: 'tools',
  summary: 'Find tools by what you want to do',
  description:
    'By names, descriptions, tags, parameters and documentation. Only what the caller may call is found, and nothing that is switched off.',
  query: shape(() =>
    z.object({
      q: textOf(1, LONGEST_QUERY).describe('In plain words.'),
      limit: z
        .preprocess(asNumber, wholeNumber(1, MOST_FOUND).default(USUALLY_FOUND))
        .describe('How many tools to find.'),
      toolset: OfToolset(),
      agent_id: ForAgent(),
      mode: oneOf(INTERACTION_MODES).optional().describe('Only tools served in this mode.'),
    }),
  ),
  answers: { 200: json('The tools that were found.', ToolsFound) },
  problems: [400, 404],
});
