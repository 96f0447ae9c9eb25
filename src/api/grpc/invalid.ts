// The refusal of a request that is not well formed: VALIDATION, with the place.
import { ToolFailure } from '../../contract/call/tool-failure.ts';

export function invalid(pointer: string, message: string): ToolFailure {
  return new ToolFailure('VALIDATION', `${pointer || 'The request'} ${message}.`, {
    reason: 'MALFORMED_CALL',
    details: { violations: [{ pointer, message }] },
  });
}
