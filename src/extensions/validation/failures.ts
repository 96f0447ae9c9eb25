// What validation refuses with.
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Violation } from '../../lib/json-schema/violation.ts';

export function foreignTenant(): ToolFailure {
  return new ToolFailure(
    'PERMISSION_DENIED',
    'The business_id argument is not the tenant of this credential.',
    {
      reason: 'TENANT_MISMATCH',
      details: { field: 'business_id' },
    },
  );
}

export function mismatch(violations: readonly Violation[]): ToolFailure {
  return new ToolFailure(
    'VALIDATION',
    `The arguments do not fit the tool's input schema: ${sentence(violations)}.`,
    {
      reason: 'SCHEMA_MISMATCH',
      details: { violations: violations.map(({ pointer, message }) => ({ pointer, message })) },
    },
  );
}

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

function sentence(violations: readonly Violation[]): string {
  const shown = violations.slice(0, 3).map(({ pointer, message }) => `${pointer || 'the whole'} ${message}`);
  const more = violations.length - shown.length;
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '');
}
