// Safe answers: compiled from templates at load, filled with arguments of the call. Text stays text; nothing is evaluated.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { OptionFault } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import { createValidator, TOO_COSTLY } from '../../lib/json-schema/validator.ts';
import { parseTemplate, soleName, TemplateError, type Template } from '../../lib/text/template.ts';

export interface SafeAnswer {
  readonly faults: readonly OptionFault[];
  /** Undefined where the arguments make it one that cannot be given. */
  fill(call: ToolCall): { readonly data: JsonValue; readonly dataJson: string } | undefined;
}

type Fill = (argument: (name: string) => JsonValue) => JsonValue;
type Path = OptionFault['path'];

/** An argument's text is cut there: a caller does not decide how long the answer is. */
const MAX_ARGUMENT_CHARACTERS = 1_000;
const MAX_ANSWER_CHARACTERS = 64 << 10;

/** `data` is the answer where both are there: the gateway's message is for tools that say nothing of their own. */
export function compileAnswer(
  fn: ToolFunction,
  { message, data }: { readonly message?: string | undefined; readonly data?: JsonValue | undefined },
): SafeAnswer {
  const compiler = new Compiler(fn);
  const fill =
    data === undefined ? compiler.compile({ message: message ?? '' }, []) : compiler.compile(data, ['data']);
  const { faults } = compiler;
  const output = fn.outputSchema === undefined ? undefined : createValidator(fn.outputSchema);
  const misfits = (value: JsonValue) =>
    output === undefined ? [] : (output.validateHere(structuredClone(value)) ?? TOO_COSTLY);
  if (faults.length === 0 && !compiler.isOpen) {
    for (const { pointer, message: what } of misfits(fill(() => null))) {
      const path = data === undefined ? ['message'] : ['data', ...pointer.split('/').slice(1)];
      faults.push({
        path,
        message: `the safe answer does not fit output_schema: ${pointer || 'the whole'} ${what}`,
      });
    }
  }
  return {
    faults,
    fill(call) {
      const value = fill((name) => argumentOf(call, fn, name));
      if (compiler.isOpen && misfits(value).length > 0) return undefined;
      const dataJson = JSON.stringify(value);
      return dataJson.length > MAX_ANSWER_CHARACTERS ? undefined : { data: value, dataJson };
    },
  };
}

class Compiler {
  readonly faults: OptionFault[] = [];
  /** Whether any argument stands in the answer. */
  isOpen = false;
  readonly #fn: ToolFunction;

  constructor(fn: ToolFunction) {
    this.#fn = fn;
  }

  compile(value: JsonValue, path: Path): Fill {
    if (typeof value === 'string') return this.#text(value, path);
    if (Array.isArray(value)) {
      const items = value.map((item, index) => this.compile(item, [...path, index]));
      return (argument) => items.map((item) => item(argument));
    }
    if (!isJsonObject(value)) return () => value;
    const members = Object.entries(value).map(
      ([key, member]) => [key, this.compile(member, [...path, key])] as const,
    );
    return (argument) => Object.fromEntries(members.map(([key, member]) => [key, member(argument)]));
  }

  #text(text: string, path: Path): Fill {
    const template = this.#parse(text, path);
    if (template === undefined) return () => null;
    for (const name of template.names) this.#checkName(name, path);
    this.isOpen ||= template.names.length > 0;
    const sole = soleName(template);
    if (sole !== undefined && path[0] === 'data') return (argument) => scalarOf(argument(sole));
    return (argument) =>
      template.parts.map((part) => (typeof part === 'string' ? part : textOf(argument(part.name)))).join('');
  }

  #parse(text: string, path: Path): Template | undefined {
    try {
      return parseTemplate(text);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.faults.push({ path, message: error.message });
      return undefined;
    }
  }

  #checkName(name: string, path: Path): void {
    const { name: tool, inputSchema } = this.#fn;
    const { properties = {}, required = [] } = inputSchema;
    const parameters = isJsonObject(properties) ? properties : {};
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (parameter === undefined) {
      const near = didYouMean(name, Object.keys(parameters));
      const hint = near === undefined ? '' : `; did you mean {${near}}?`;
      this.faults.push({ path, message: `{${name}} is not a parameter of ${tool}${hint}` });
    } else if (!isScalarType(parameter)) {
      const message = `{${name}} is a list or a map: only texts, numbers and booleans can stand in a safe answer`;
      this.faults.push({ path, message });
    } else if (
      !(Array.isArray(required) && required.includes(name)) &&
      defaultOf(this.#fn, name) === undefined
    ) {
      const message = `{${name}} may be left out by the caller: expected a required parameter of ${tool}, or one with a default`;
      this.faults.push({ path, message });
    }
  }
}

function isScalarType(schema: JsonValue): boolean {
  const types = isJsonObject(schema) ? [schema['type']].flat() : [];
  return !types.includes('object') && !types.includes('array');
}

/** As validation fills arguments in: what was given, then the agent's config, then the schema's default. */
function argumentOf(call: ToolCall, fn: ToolFunction, name: string): JsonValue {
  const given = Object.hasOwn(call.arguments, name) ? call.arguments[name] : undefined;
  return given ?? defaultOf(fn, name, call.config) ?? null;
}

function defaultOf(
  fn: ToolFunction,
  name: string,
  config: JsonObject = fn.configDefaults,
): JsonValue | undefined {
  const field = fn.action?.parameters.find((parameter) => parameter.name === name)?.defaultFromConfig;
  const configured = field !== undefined && Object.hasOwn(config, field) ? config[field] : undefined;
  const properties = fn.inputSchema['properties'];
  const schema = isJsonObject(properties) ? properties[name] : undefined;
  return configured ?? (isJsonObject(schema) ? schema['default'] : undefined);
}

function scalarOf(value: JsonValue): JsonValue {
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : textOf(value);
}

function textOf(value: JsonValue): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= MAX_ARGUMENT_CHARACTERS) return text;
  // Not between the two halves of one character.
  return `${text.slice(0, MAX_ARGUMENT_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
