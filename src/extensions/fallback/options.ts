// What a tool may say of its safe answer, and what is checked of it at load.
import { z } from 'zod';
import type { OptionFault } from '../../contract/plugin.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { compileAnswers } from './answers-by-language.ts';
import { isLanguageTag } from '../../lib/text/language-tag.ts';
import { whole } from '../../lib/settings/whole.ts';

const REPLACEABLE = ['TIMEOUT', 'TRANSIENT', 'UNAVAILABLE', 'OUTPUT_INVALID'] as const;

export const fallbackOptionsSchema = z.strictObject({
  message: z
    .string()
    .min(1)
    .max(4_000)
    .optional()
    .describe(
      'The safe answer as a sentence: data is {message: …}. {argument} stands for an argument of the call, {{ for a brace.',
    ),
  messages: z
    .record(
      z.string().refine(isLanguageTag, 'expected a language tag such as de or pt-BR'),
      z.string().min(1).max(4_000),
    )
    .optional()
    .describe(
      'The same sentence in other languages, by tag (de, pt-BR): given to calls whose context.language is that, or begins with it.',
    ),
  data: z
    .json()
    .optional()
    .describe(
      'The safe answer as data, where a sentence does not fit output_schema. Texts in it may hold {argument}; "{argument}" alone keeps its type.',
    ),
  on: z
    .array(z.enum(REPLACEABLE))
    .min(1)
    .default([...REPLACEABLE])
    .describe('Errors that it stands in for.'),
  after_ms: whole(1, 3_600_000)
    .optional()
    .describe(
      'When the call has taken so long, it is cancelled and the safe answer given. Read-only tools only.',
    ),
});
export type FallbackOptions = z.infer<typeof fallbackOptionsSchema>;

export function faultsOfFallback(fn: ToolFunction, options: FallbackOptions): readonly OptionFault[] {
  const own = fn.spec.extensions['fallback'] ?? {};
  if (own['message'] !== undefined && own['data'] !== undefined)
    return [{ path: [], message: 'expected either message or data: there is one safe answer' }];
  if (options.message === undefined && options.data === undefined)
    return [{ path: [], message: 'message or data is required, here or in gateway.yaml: the safe answer' }];
  if (own['data'] !== undefined && own['messages'] !== undefined)
    return [
      {
        path: ['messages'],
        message: 'expected either messages or data: a sentence has languages, data has none',
      },
    ];
  return [...compileAnswers(fn, options).faults, ...faultsOfLateness(fn, options)];
}

/** Only a tool that asks for it has a safe answer; gateway.yaml may say which. */
export function hasFallback(fn: ToolFunction, { message, data }: FallbackOptions): boolean {
  return fn.spec.extensions['fallback'] !== undefined && (message !== undefined || data !== undefined);
}

function faultsOfLateness(
  { spec }: ToolFunction,
  { after_ms: afterMs, on }: FallbackOptions,
): readonly OptionFault[] {
  if (afterMs === undefined) return [];
  const path = ['after_ms'];
  const faults: OptionFault[] = [];
  if (!spec.metadata.readOnly) {
    const message =
      'only a read-only tool is cancelled for being late, since another may have half done its work: expected metadata.read_only: true or category: retrieval, or no after_ms';
    faults.push({ path, message });
  }
  if (!on.includes('TIMEOUT'))
    faults.push({ path, message: 'a late call ends in TIMEOUT: expected TIMEOUT in "on", or no after_ms' });
  if (afterMs >= spec.timeoutMs) {
    const message = `${afterMs} ms is never reached: expected less than the tool's timeout_ms of ${spec.timeoutMs}`;
    faults.push({ path, message });
  }
  return faults;
}
