// The safe answers of a tool: one that is there for everybody, and the same sentence in other languages.
import type { JsonValue } from '../../contract/json.ts';
import type { OptionFault } from '../../contract/plugin.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { forLanguage } from '../../lib/text/language-tag.ts';
import { compileAnswer, type SafeAnswer } from './safe-answer.ts';

/** What a tool says of its safe answer; `messages` by language. */
interface Said {
  readonly message?: string | undefined;
  readonly data?: JsonValue | undefined;
  readonly messages?: Readonly<Record<string, string>> | undefined;
}

export interface SafeAnswers {
  readonly faults: readonly OptionFault[];
  /** Of a language that there is none for: the one for everybody. */
  of(language: string | undefined): SafeAnswer;
}

export function compileAnswers(fn: ToolFunction, options: Said): SafeAnswers {
  const usual = compileAnswer(fn, options);
  const byLanguage = new Map<string, SafeAnswer>();
  const faults = [...usual.faults];
  for (const [tag, message] of Object.entries(messagesOf(fn, options))) {
    const answer = compileAnswer(fn, { message });
    byLanguage.set(tag.toLowerCase(), answer);
    faults.push(...answer.faults.map((fault) => ({ ...fault, path: ['messages', tag] })));
  }
  return { faults, of: (language) => forLanguage(byLanguage, language) ?? usual };
}

/** A tool with an answer of its own is not given the gateway's sentence because of the caller's language. */
function messagesOf({ spec }: ToolFunction, { messages = {} }: Said) {
  const own = spec.extensions['fallback'] ?? {};
  const hasOwnAnswer = own['message'] !== undefined || own['data'] !== undefined;
  return hasOwnAnswer && own['messages'] === undefined ? {} : messages;
}
