// ThrownReport: what a handler threw, told by the worker as JSON text and read back in the gateway.
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { isJsonObject, type JsonValue } from '../../contract/json.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { failureOfThrown, type Cutter } from './read-outcome.ts';

// Taken before any handler is loaded: one that replaces them deceives itself alone.
const { parse, stringify } = JSON;

/** An error's own words end here; the stack goes to the log. More than twice what is shown of them: see SecretScrubber.cut. */
const MAX_TEXT = 2_000;
const MAX_STACK = 16_001;
const MAX_LINE = 500;
const MAX_DETAILS = 65_536;
const FIELDS = ['type', 'reason', 'retryable', 'partialSideEffects', 'partial_side_effects', 'retryAfterMs', 'retry_after_ms']; // oxfmt-ignore

/** Never throws, whatever was thrown: its properties may be traps. */
export function reportOf(thrown: unknown): string {
  try {
    if (typeof thrown !== 'object' || thrown === null) return stringify({ text: textOf(thrown) });
    const fields = thrown as { readonly [field: string]: unknown };
    const report: Record<string, unknown> = { text: textOf(thrown) };
    for (const name of ['name', 'message', 'stack']) {
      const value = fields[name];
      if (typeof value === 'string') report[name] = value.slice(0, name === 'stack' ? MAX_STACK : MAX_TEXT);
    }
    for (const name of FIELDS) {
      const value = fields[name];
      if (typeof value === 'string') report[name] = value.slice(0, MAX_TEXT);
      else if (typeof value === 'boolean' || typeof value === 'number') report[name] = value;
    }
    const details = stringify(fields['details']) as string | undefined;
    if (details !== undefined && details.length <= MAX_DETAILS) report['details'] = parse(details);
    return stringify({ ...report, error: thrown instanceof Error });
  } catch {
    return stringify({ text: 'something that cannot be read' });
  }
}

export function failureOfReport(report: JsonValue | undefined, scrubber: Cutter): ToolFailure {
  if (!isJsonObject(report)) return failureOfThrown('something that cannot be read', scrubber);
  const { text, error, name, message, stack, ...fields } = report;
  if (error === undefined) return failureOfThrown(typeof text === 'string' ? text : '', scrubber);
  const thrown = new Error(typeof message === 'string' ? message : '');
  if (typeof name === 'string') thrown.name = name;
  if (typeof stack === 'string') thrown.stack = stack;
  const failure = failureOfThrown(Object.assign(thrown, fields), scrubber);
  return error === true || !isReason(failure, 'EXCEPTION')
    ? failure
    : failureOfThrown(typeof text === 'string' ? text : '', scrubber);
}

/** What was thrown as one line without a stack, for the operator whose module it is. */
export function lineOf(report: JsonValue | undefined): string {
  const text = isJsonObject(report) ? report['text'] : undefined;
  return typeof text === 'string' ? text.slice(0, MAX_LINE) : 'something that cannot be read';
}

/** One line for the log. */
export function wordsOf(report: JsonValue | undefined): string {
  const said = isJsonObject(report) ? (report['stack'] ?? report['text']) : undefined;
  return typeof said === 'string' ? said : 'something that cannot be read';
}

function textOf(thrown: unknown): string {
  return String(thrown).slice(0, MAX_STACK);
}
