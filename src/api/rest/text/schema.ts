// Calls in a model's text, on the wire.
import { z } from 'zod';
import { Envelope, envelopeAnswers } from '../execute/envelope.ts';
import { callHeaders } from '../execute/headers.ts';
import { ToolContext } from '../execute/tool-context.ts';
import { json, route } from '../route/route.ts';
import { count, list, named, object, oneOf, shape, strictBody, text, textOf } from '../route/shapes.ts';

const TAG = 'calls';
/** As strict JSON takes a text. */
const LONGEST_TEXT = 256 * 1024;

const written = () => textOf(0, LONGEST_TEXT).describe('What the model wrote, as it came.');

const Mend = named('TextMend', () =>
  z.object({
    kind: oneOf([
      'comment',
      'trailing_comma',
      'single_quotes',
      'unquoted_name',
      'python_literal',
      'line_break_in_text',
    ]),
    position: count(),
  }),
);

const Problem = named('TextProblem', () =>
  z.object({
    reason: text(),
    message: text('What the model has to write otherwise.'),
    position: count().describe('Where the call stops making sense, or begins.'),
  }),
);

const found = () => ({
  tool: text('As the model spelled it; empty where its call broke off before that.'),
  arguments: object('None where the call is broken.'),
  id: text('An id that the model gave it.').optional(),
  position: count().describe('Where the call begins, in UTF-16 units from 0.'),
  end: count().describe('Behind the call.'),
  line: z.int().min(1),
  column: z.int().min(1),
  mended: list(Mend()).describe('Slips that have one meaning alone, and were put right.'),
  problem: Problem().optional().describe('Set where the call is broken: it is not run.'),
});

const ParsedCall = named('ParsedCall', () => z.object(found()));
const ParsedText = named('ParsedText', () =>
  z.object({ calls: list(ParsedCall()).describe('In the order of the text.') }),
);

const ExecutedCall = named('ExecutedCall', () => z.object({ ...found(), response: Envelope() }));
const ExecutedText = named('ExecutedText', () =>
  z.object({
    calls: list(ExecutedCall()).describe('In the order of the text. None: the model asked for nothing.'),
    text: text("The answers, for the model's next turn; empty where there was no call."),
  }),
);

const EXAMPLE = 'One moment.\n```json\n{"tool": "calculate_sum", "args": {"a": 1, "b": 2}}\n```';

export const parseText = route({
  operationId: 'parseText',
  method: 'post',
  path: '/v1/parse',
  tag: TAG,
  summary: "Find the calls in a model's text",
  description:
    'JSON objects such as `{"tool": …, "args": {…}}`, fenced or bare, and arguments behind a name, as models write them. What stands between marks of thoughts, such as `<think>` and `</think>`, is not searched. Nothing runs.',
  body: {
    shape: shape(() => strictBody('{"text": …}', { text: written() })),
    example: { text: EXAMPLE },
  },
  answers: { 200: json('The calls, and what is wrong with those that are broken.', ParsedText) },
  problems: [400],
});

export const executeText = route({
  operationId: 'executeText',
  method: 'post',
  path: '/v1/execute-text',
  tag: TAG,
  summary: "Run the calls in a model's text",
  description:
    'The calls that `/v1/parse` finds run in parallel, each with an envelope of its own. A broken one is refused, and the others run. A text that cannot be read is refused as one call.',
  headers: shape(callHeaders),
  body: {
    shape: shape(() =>
      strictBody('{"text": …, "context": {…}}', { text: written(), context: ToolContext().optional() }),
    ),
    example: { text: EXAMPLE },
  },
  answers: envelopeAnswers(json('The calls with their answers.', ExecutedText)),
});
