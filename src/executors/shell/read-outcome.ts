// Outcomes: what a run means for the caller, a result or one of the tool's own errors.
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { parseStrictJson } from '../../lib/json/strict-json.ts';
import type { SandboxFile, SandboxOutcome } from '../../ports/egress/sandbox.ts';
import type { CommandOptions } from './options-schema.ts';

const MAX_ERROR_TEXT = 2000;
const MAX_ERROR_LINE = 300;

/** Throws ToolFailure for everything that is no success. */
export function readOutcome(outcome: SandboxOutcome, options: CommandOptions): ToolResult {
  if (outcome.ended !== 'exited') throw cutShort(outcome);
  if (!options.ok_exit_codes.includes(outcome.exitCode)) throw exitFailure(outcome);
  const stdout = outcome.stdout.toString('utf8');
  if (options.output === 'json') return { data: parsed(stdout) };
  const data: JsonObject = {
    exit_code: outcome.exitCode,
    stdout,
    stderr: outcome.stderr.toString('utf8'),
    ...(options.collect.length > 0 && { files: outcome.files.map(fileOf) }),
  };
  return { data };
}

function fileOf({ path, content }: SandboxFile): JsonObject {
  const text = content.toString('utf8');
  const isText = Buffer.from(text).equals(content);
  return isText ? { path, text } : { path, base64: content.toString('base64') };
}

function parsed(stdout: string): JsonValue {
  try {
    return parseStrictJson(stdout) as JsonValue;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw toolFailure('NOT_JSON', `The command's output is not the JSON it promises: ${why}`, {
      cause: error,
    });
  }
}

function cutShort({ ended }: SandboxOutcome): ToolFailure {
  switch (ended) {
    case 'output_limit':
      return toolFailure('OUTPUT_LIMIT', 'The command printed more than it may, and was ended.');
    case 'disk_limit':
      return permanent(
        'DISK_LIMIT',
        'The command wrote more into its workspace than it may; what it wrote is given up.',
      );
    case 'memory_limit':
      return permanent('MEMORY_LIMIT', 'The command used more memory than it may, and was ended.');
    case 'timeout':
    case 'exited':
      break;
  }
  return new ToolFailure('TIMEOUT', 'The command did not end in time, and was ended.');
}

function exitFailure({ exitCode, stdout, stderr }: SandboxOutcome): ToolFailure {
  const said = stderr.toString('utf8').trim();
  const line = said.split('\n').at(-1)?.slice(0, MAX_ERROR_LINE) ?? '';
  const message = `The command ended with exit code ${exitCode}${line === '' ? '.' : `: ${line}`}`;
  return permanent('EXIT_CODE', message, {
    exit_code: exitCode,
    stdout: stdout.toString('utf8').slice(0, MAX_ERROR_TEXT),
    stderr: said.slice(-MAX_ERROR_TEXT),
  });
}

function permanent(reason: Reason, message: string, details: JsonObject = {}): ToolFailure {
  return toolFailure(reason, message, { origin: 'tool', details });
}
