// Which tool a body calls and with what: in the gateway's own form, or in that of the provider whose model asked for it.
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import type { LargeIntegers } from '../../../contract/call/tool-call.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { readProviderCall } from '../../../formats/read-provider-call.ts';
import { mayNameTheSame } from '../../../lib/text/provider-names.ts';
import { refuseLargeIntegers } from '../route/json-text.ts';
import { invalid } from '../route/violations.ts';

export interface CallForm {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Pointers into the arguments. */
  readonly largeIntegers: LargeIntegers;
  readonly providerCallId?: string;
  /** Set where the arguments of a provider's form cannot be read. */
  readonly refusal?: ToolFailure;
}

const NO_ARGUMENTS: JsonObject = Object.freeze({});
const NONE: LargeIntegers = Object.freeze([]);
const OWN = new Set(['arguments', 'context', 'tool']);

/**
 * `tool`: the one that the path names; undefined where the body has to. `largeIntegers`: pointers into the body.
 * Throws ToolFailure VALIDATION.
 */
export function readForm(tool: string | undefined, body: JsonObject, largeIntegers: LargeIntegers): CallForm {
  const stray = Object.keys(body).find((key) => !OWN.has(key));
  const said = stray === undefined || 'tool' in body ? undefined : readProviderCall(body);
  if (said === undefined) return ownForm(tool, body, largeIntegers, stray);
  if ('callback' in body) throw notAField('callback');
  if (tool !== undefined && said.name !== undefined && !mayNameTheSame(tool, said.name))
    throw invalid('', `names the tool "${said.name.slice(0, 64)}", and the path another`);
  const asValues = argumentsAmong(largeIntegers, said.argumentsAt);
  return {
    // The path's spelling is as good, and what the caller will look for in logs.
    tool: tool ?? said.name ?? '',
    arguments: said.arguments,
    largeIntegers: said.largeIntegers.length > 0 ? said.largeIntegers : asValues,
    ...(said.id !== undefined && { providerCallId: said.id }),
    ...(said.refusal !== undefined && { refusal: said.refusal }),
  };
}

function ownForm(
  tool: string | undefined,
  body: JsonObject,
  largeIntegers: LargeIntegers,
  stray: string | undefined,
): CallForm {
  if (tool === undefined && typeof body['tool'] !== 'string')
    throw invalid(
      '/tool',
      "must be the name of a tool; a call in a provider's form has it where that provider puts it",
    );
  if (stray !== undefined) throw notAField(stray);
  const { arguments: args = NO_ARGUMENTS } = body;
  if (!isJsonObject(args)) throw invalid('/arguments', 'must be an object');
  return {
    tool: tool ?? (body['tool'] as string),
    arguments: args,
    largeIntegers: largeIntegers.length === 0 ? NONE : argumentsAmong(largeIntegers, '/arguments'),
  };
}

function notAField(key: string) {
  return invalid(`/${key}`, 'is not a field of a call; expected arguments and context');
}

/** Elsewhere than in the arguments such an integer is refused. */
function argumentsAmong(largeIntegers: LargeIntegers, at: string): LargeIntegers {
  const prefix = `${at}/`;
  refuseLargeIntegers(largeIntegers.filter((pointer) => !pointer.startsWith(prefix)));
  return largeIntegers.map((pointer) => pointer.slice(at.length));
}
