// A failure of the gateway's own, as the protocol tells it.
import { ProtocolError } from '@modelcontextprotocol/server';
import type { ErrorType } from '../../../contract/call/error-types.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Exchange } from './exchange.ts';
import { INTERNAL_ERROR, INVALID_REQUEST } from './read-message.ts';

export const INVALID_PARAMS = -32_602;

const CODES: Readonly<Partial<Record<ErrorType, number>>> = {
  VALIDATION: INVALID_PARAMS,
  NOT_FOUND: INVALID_PARAMS,
  CONFLICT: INVALID_PARAMS,
  UNAVAILABLE: INTERNAL_ERROR,
};

/** Rejects with ProtocolError for each ToolFailure. */
export async function toldByProtocol<Made>(
  exchange: Exchange,
  make: () => Made | Promise<Made>,
): Promise<Made> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof ToolFailure) throw protocolErrorOf(error, exchange);
    throw error;
  }
}

function protocolErrorOf({ type, reason, message, details }: ToolFailure, exchange: Exchange): ProtocolError {
  if (type === 'PERMISSION_DENIED') exchange.status = 403;
  return new ProtocolError(CODES[type] ?? INVALID_REQUEST, message, { type, reason, message, details });
}
