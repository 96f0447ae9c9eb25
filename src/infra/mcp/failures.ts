// What goes wrong between the gateway and an MCP server, as ToolFailures.
import { ToolFailure } from '../../contract/call/tool-failure.ts';

export function connectionLost(cause?: unknown): ToolFailure {
  return new ToolFailure('UNAVAILABLE', 'The connection to the MCP server was lost before it had answered.', {
    reason: 'CONNECTION_LOST',
    cause,
  });
}

export function connectFailed(cause: unknown): ToolFailure {
  return new ToolFailure('UNAVAILABLE', 'The MCP server could not be started or reached.', {
    reason: 'CONNECT_FAILED',
    partialSideEffects: false,
    cause,
  });
}

export function connectTimeout(ms: number, cause?: unknown): ToolFailure {
  return new ToolFailure('UNAVAILABLE', `The MCP server did not take up the connection within ${ms} ms.`, {
    reason: 'CONNECT_TIMEOUT',
    partialSideEffects: false,
    cause,
  });
}

export function givenUp(retryAfterMs: number, cause: unknown): ToolFailure {
  return new ToolFailure('UNAVAILABLE', 'The MCP server fails too often and is left alone for a while.', {
    reason: 'RESTART_BUDGET_SPENT',
    retryAfterMs,
    partialSideEffects: false,
    cause,
  });
}

export function draining(): ToolFailure {
  return new ToolFailure('UNAVAILABLE', 'The gateway is shutting down.', {
    reason: 'DRAINING',
    partialSideEffects: false,
  });
}

export function tooLarge(maxBytes: number): ToolFailure {
  return new ToolFailure(
    'OUTPUT_TOO_LARGE',
    `The MCP server's message is larger than the limit of ${maxBytes} bytes.`,
    { details: { max_bytes: maxBytes } },
  );
}

export function tooMuch(bound: string): ToolFailure {
  return new ToolFailure('OUTPUT_TOO_LARGE', `The MCP server's message ${bound}.`, {
    reason: 'TOO_MANY_VALUES',
  });
}

export function tooManyBlocks(most: number): ToolFailure {
  return new ToolFailure(
    'OUTPUT_TOO_LARGE',
    `The MCP server's answer has more than ${most} content blocks.`,
    {
      reason: 'TOO_MANY_BLOCKS',
    },
  );
}

export function tooDeep(maxDepth: number): ToolFailure {
  return new ToolFailure(
    'OUTPUT_INVALID',
    `The MCP server's message is nested deeper than ${maxDepth} levels.`,
    { reason: 'TOO_DEEP' },
  );
}

export function invalidAnswer(what: string, cause?: unknown): ToolFailure {
  return new ToolFailure('OUTPUT_INVALID', `The MCP server broke the protocol: ${what}.`, {
    reason: 'PROTOCOL_VIOLATION',
    cause,
  });
}

export function brokenProtocol(kind: string): ToolFailure {
  return new ToolFailure(
    'OUTPUT_INVALID',
    `The MCP server sent too much of what it was not asked for (${kind}) and was cut off.`,
    { reason: 'PROTOCOL_VIOLATION' },
  );
}
