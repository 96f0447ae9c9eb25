// Reads the text of a body as strict JSON, or says where it is none.
import { isUtf8 } from 'node:buffer';
import type { LargeIntegers } from '../../../contract/call/tool-call.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import {
  largeIntegerRefused,
  parseWithLargeIntegers,
  StrictJsonError,
  type WithLargeIntegers,
} from '../../../lib/json/strict-json.ts';
import { faultInWords } from '../../../lib/json/strict-json-error.ts';
import { invalid } from './violations.ts';

/** A management route's body, parsed; throws ToolFailure for one that was refused on its way in, too. */
export function bodyOf({ body }: { readonly body: unknown }): unknown {
  if (body instanceof ToolFailure) throw body;
  return parseBody(body);
}

/** Throws ToolFailure VALIDATION with the place in the text. */
export function parseBody(body: unknown): unknown {
  const { value, largeIntegers } = parseCallBody(body);
  refuseLargeIntegers(largeIntegers);
  return value;
}

/** The same, for those who know what to do with integers beyond 2^53. */
export function parseCallBody(body: unknown): WithLargeIntegers {
  if (!Buffer.isBuffer(body) || body.length === 0) return { value: {}, largeIntegers: [] };
  if (!isUtf8(body)) throw invalid('', 'must be text in UTF-8');
  try {
    return parseWithLargeIntegers(body.toString('utf8'));
  } catch (error) {
    if (error instanceof StrictJsonError) throw malformed(error);
    throw error;
  }
}

export function refuseLargeIntegers([first]: LargeIntegers): void {
  if (first !== undefined) throw malformed(largeIntegerRefused(first));
}

function malformed(error: StrictJsonError): ToolFailure {
  const { reason, pointer, message } = error;
  return new ToolFailure('VALIDATION', `The body is not acceptable JSON: ${faultInWords(error)}.`, {
    reason,
    details: { violations: [{ pointer: pointer ?? '', message }] },
  });
}
