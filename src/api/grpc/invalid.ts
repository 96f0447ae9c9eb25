// The refusal of a request that is not well formed: VALIDATION, with the place.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';

export function invalid(pointer: string, message: string): ToolFailure {
  return toolFailure('MALFORMED_CALL', `${pointer || 'The request'} ${message}.`, {
    details: { violations: [{ pointer, message }] },
  });
}
