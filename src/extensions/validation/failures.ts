// What validation refuses with.
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ForeignCheckError } from '../../lib/json-schema/foreign/foreign-schemas.ts';
import type { Violation } from '../../lib/json-schema/violation.ts';

export function foreignTenant(): ToolFailure {
  return toolFailure('TENANT_MISMATCH', 'The business_id argument is not the tenant of this credential.', {
    details: { field: 'business_id' },
  });
}

export function mismatch(violations: readonly Violation[]): ToolFailure {
  return toolFailure(
    'SCHEMA_MISMATCH',
    `The arguments do not fit the tool's input schema: ${sentence(violations)}.`,
    { details: { violations: violations.map(({ pointer, message }) => ({ pointer, message })) } },
  );
}

/** Integers that the caller wrote as numbers beyond 2^53, where the tool does not say that it takes such. */
export function notInt64(pointers: readonly string[]): ToolFailure {
  const message = 'must be within ±(2^53 − 1), as the tool does not expect an integer of format int64 here';
  const violations = pointers.slice(0, MOST_VIOLATIONS).map((pointer) => ({ pointer, message }));
  return toolFailure(
    'NUMBER_RANGE',
    `The arguments hold a number that cannot be passed on exactly: ${sentence(violations)}.`,
    { details: { violations } },
  );
}

const MOST_VIOLATIONS = 20;

export function outputInvalid(violations: readonly Violation[]): ToolFailure {
  return new ToolFailure(
    'OUTPUT_INVALID',
    `The tool's result does not fit its output schema: ${sentence(violations)}.`,
    {
      reason: 'SCHEMA_MISMATCH',
      details: { violations: violations.map(({ pointer, message }) => ({ pointer, message })) },
    },
  );
}

export function unchecked(error: ForeignCheckError): ToolFailure {
  if (error.why === 'busy') {
    const message = 'Too many calls wait for their arguments to be checked.';
    return toolFailure('VALIDATION_BUSY', message, { retryAfterMs: 1_000, cause: error });
  }
  const message =
    "The arguments could not be held to the tool's input schema within the limits of time and memory.";
  return toolFailure('SCHEMA_CHECK_FAILED', message, { retryable: false, cause: error });
}

function sentence(violations: readonly Violation[]): string {
  const shown = violations.slice(0, 3).map(({ pointer, message }) => `${pointer || 'the whole'} ${message}`);
  const more = violations.length - shown.length;
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '');
}
