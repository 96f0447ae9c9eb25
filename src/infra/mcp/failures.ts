// What goes wrong between the gateway and an MCP server, as ToolFailures.
import { toolFailure } from '../../contract/call/failure.ts';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { AskedInput } from './answers/calls-under-way.ts';

/** `asked`: what it wanted to know, where it said. */
export function inputRequired(asked: readonly AskedInput[], cause?: unknown): ToolFailure {
  const said = asked.map(({ message }) => ` ${JSON.stringify(message)}`).join(',');
  const message = `The MCP server asks for input in the middle of the call, which no caller here can give${said === '' ? '.' : `:${said}.`}`;
  return toolFailure('INPUT_REQUIRED', message, {
    origin: 'tool',
    cause,
    ...(asked.length > 0 && { details: { asked: asked.map((each) => ({ ...each })) } }),
  });
}

export function connectionLost(cause?: unknown): ToolFailure {
  return toolFailure('CONNECTION_LOST', 'The connection to the MCP server was lost before it had answered.', {
    cause,
  });
}

export function connectFailed(cause: unknown): ToolFailure {
  return toolFailure('CONNECT_FAILED', 'The MCP server could not be started or reached.', {
    partialSideEffects: false,
    cause,
  });
}

export function connectTimeout(ms: number, cause?: unknown): ToolFailure {
  return toolFailure('CONNECT_TIMEOUT', `The MCP server did not take up the connection within ${ms} ms.`, {
    partialSideEffects: false,
    cause,
  });
}

export function givenUp(retryAfterMs: number, cause: unknown): ToolFailure {
  return toolFailure(
    'RESTART_BUDGET_SPENT',
    'The MCP server fails too often and is left alone for a while.',
    { retryAfterMs, partialSideEffects: false, cause },
  );
}

/** The failure of a registry, and none of the server, which was not even started. */
export function isNotInstalled(error: unknown): boolean {
  return error instanceof ToolFailure && isReason(error, 'PACKAGE_NOT_INSTALLED');
}

export function draining(): ToolFailure {
  return toolFailure('DRAINING', 'The gateway is shutting down.', { partialSideEffects: false });
}

export function tooLarge(maxBytes: number): ToolFailure {
  return new ToolFailure(
    'OUTPUT_TOO_LARGE',
    `The MCP server's message is larger than the limit of ${maxBytes} bytes.`,
    { details: { max_bytes: maxBytes } },
  );
}

export function tooMuch(bound: string): ToolFailure {
  return toolFailure('TOO_MANY_VALUES', `The MCP server's message ${bound}.`);
}

export function tooManyBlocks(most: number): ToolFailure {
  return toolFailure('TOO_MANY_BLOCKS', `The MCP server's answer has more than ${most} content blocks.`);
}

export function tooDeep(maxDepth: number): ToolFailure {
  return new ToolFailure(
    'OUTPUT_INVALID',
    `The MCP server's message is nested deeper than ${maxDepth} levels.`,
    { reason: 'TOO_DEEP' },
  );
}

export function invalidAnswer(what: string, cause?: unknown): ToolFailure {
  return toolFailure('PROTOCOL_VIOLATION', `The MCP server broke the protocol: ${what}.`, { cause });
}

export function brokenProtocol(kind: string): ToolFailure {
  return toolFailure(
    'PROTOCOL_VIOLATION',
    `The MCP server sent too much of what it was not asked for (${kind}) and was cut off.`,
  );
}
