// What fills the places of a message: arguments, which come from a language model, and what the calling agent has configured.
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolCall } from '../../../contract/call/tool-call.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { JsonValue } from '../../../contract/json.ts';
import { childPointer } from '../../../lib/json/json-pointer.ts';

type ValuesOfCall = Pick<ToolCall, 'arguments' | 'config' | 'sensitiveConfig'>;

/** Of one call: notes what is wrong with arguments, so that all of it is told at once. */
export class CallValues {
  readonly #call: ValuesOfCall;
  readonly #violations: { readonly pointer: string; readonly message: string }[] = [];

  constructor(call: ValuesOfCall) {
    this.#call = call;
  }

  /** Undefined: it was left out, or is not configured. */
  of(name: string): Exclude<JsonValue, null> | undefined {
    const [part, field = ''] = name.split('.');
    const from = !isOfAgent(name)
      ? this.#call.arguments
      : part === 'sensitive_config'
        ? this.#call.sensitiveConfig
        : this.#call.config;
    const key = isOfAgent(name) ? field : name;
    return (Object.hasOwn(from, key) ? from[key] : undefined) ?? undefined;
  }

  /** `index`: of a member, where the value is a list. Throws for what the operator has configured. */
  refuse(name: string, message: string, index?: number): undefined {
    if (isOfAgent(name)) throw misconfigured(name, message);
    const pointer = childPointer('', name);
    this.#violations.push({ pointer: index === undefined ? pointer : childPointer(pointer, index), message });
  }

  /** Throws ToolFailure VALIDATION where anything was refused. */
  check(): void {
    const [first] = this.#violations;
    if (first === undefined) return;
    throw toolFailure(
      'UNSAFE_ARGUMENT',
      `The arguments make no message: ${this.#violations
        .slice(0, MOST_SAID)
        .map(({ pointer, message }) => `${pointer} ${message}`)
        .join('; ')}.`,
      { details: { violations: this.#violations.slice(0, MOST_LISTED) }, partialSideEffects: false },
    );
  }
}

const MOST_SAID = 3;
const MOST_LISTED = 50;

export function isOfAgent(name: string): boolean {
  return name.includes('.');
}

/** Says which, and never what stands there: it may be a secret. */
export function misconfigured(name: string, message: string): ToolFailure {
  return toolFailure(
    'TOOL_NOT_CONFIGURED',
    `What is configured for this agent as "${name.slice(name.indexOf('.') + 1)}" ${message}.`,
    { partialSideEffects: false },
  );
}
