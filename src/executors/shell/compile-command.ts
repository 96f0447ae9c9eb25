// Commands: compiled at load, filled per call. Whatever arguments hold, each stays one argument of the same program.
import type { JsonObject, JsonSchema } from '../../contract/json.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { parseTemplate, soleName } from '../../lib/text/template.ts';
import type { SandboxFile } from '../../ports/egress/sandbox.ts';
import { fillSlot, slotOf, textOf, type Filled, type Slot } from './argument-slots.ts';
import { parseCommand, type Word } from './command-line.ts';
import type { CommandOptions } from './options-schema.ts';

const MAX_ARGV_BYTES = 65_536;

export interface FilledCommand {
  readonly argv: readonly string[];
  readonly stdin?: string;
  readonly files: readonly SandboxFile[];
  readonly collect: readonly string[];
}

export interface CompiledCommand {
  /** As the operator wrote it: to be replaced by its path. */
  readonly program: string;
  /** Words of the command that are absolute paths and no arguments: scripts that an interpreter runs, perhaps. */
  readonly fixedPaths: readonly string[];
  /** Throws ToolFailure VALIDATION, reason UNSAFE_ARGUMENT, with every violation. */
  fill(args: JsonObject): FilledCommand;
}

interface Violation {
  readonly pointer: string;
  readonly message: string;
}

type Fill = (args: JsonObject, violations: Violation[]) => string | undefined;

/** Throws Error with a sentence for the operator. */
export function compileCommand(options: CommandOptions, schema: JsonSchema): CompiledCommand {
  const words = parseCommand(options.command);
  const slotFor = (name: string) => slotOf(name, options.slots, schema);
  const separator = words.findIndex(({ text, name }) => text === '--' && name === undefined);
  const argv = words.map((word, index) => wordFiller(word, slotFor, separator >= 0 && index > separator));
  const stdin = options.stdin === undefined ? undefined : textFiller(options.stdin);
  const files = options.files.map(({ path, content }, index) => ({
    path: pathFiller(path, `files[${index}].path`),
    content: textFiller(content),
  }));
  const collect = options.collect.map((path, index) => pathFiller(path, `collect[${index}]`));
  return {
    program: words[0]?.text ?? '',
    fixedPaths: words
      .slice(1)
      .flatMap(({ text, name }) => (name === undefined && text.startsWith('/') ? [text] : [])),
    fill(args) {
      const violations: Violation[] = [];
      const filled: FilledCommand = {
        argv: argv.map((fill) => fill(args, violations)).filter((text) => text !== undefined),
        ...(stdin !== undefined && { stdin: stdin(args, violations) ?? '' }),
        files: files.map(({ path, content }) => ({
          path: path(args, violations) ?? '',
          content: Buffer.from(content(args, violations) ?? ''),
        })),
        collect: collect.map((path) => path(args, violations)).filter((path) => path !== undefined),
      };
      if (violations.length > 0) throw unsafe(violations);
      checkSize(filled.argv);
      return filled;
    },
  };
}

/** Every placeholder with its path in the options. */
export function placesOf(
  options: CommandOptions,
): readonly { readonly name: string; readonly path: readonly string[] }[] {
  const { command, stdin, files, collect } = options;
  const texts: [string, readonly string[]][] = [
    ...(typeof command === 'string'
      ? [[command, ['command']] as [string, string[]]]
      : command.map((text, index): [string, string[]] => [text, ['command', String(index)]])),
    ...(stdin === undefined ? [] : [[stdin, ['stdin']] as [string, string[]]]),
    ...files.flatMap(({ path, content }, index): [string, string[]][] => [
      [path, ['files', String(index), 'path']],
      [content, ['files', String(index), 'content']],
    ]),
    ...collect.map((text, index): [string, string[]] => [text, ['collect', String(index)]]),
  ];
  return texts.flatMap(([text, path]) => namesIn(text).map((name) => ({ name, path })));
}

/** A template that cannot be read is refused with a better sentence when the command is compiled. */
function namesIn(text: string): readonly string[] {
  try {
    return parseTemplate(text).names;
  } catch {
    return [];
  }
}

function wordFiller({ text, name }: Word, slotFor: (name: string) => Slot, behindSeparator: boolean): Fill {
  if (name === undefined) return () => text;
  const slot = slotFor(name);
  const isFlag = text !== '';
  if (slot.type === 'text' && !isFlag && !behindSeparator) {
    throw new Error(
      `slots.${name}: text may hold anything, so {${name}} must stand behind "--", in --flag={${name}} or in stdin.`,
    );
  }
  return (args, violations) => {
    const value = args[name];
    // An option that was left out goes as a whole; an argument that was left out would make another command.
    if (value === undefined || value === null)
      return isFlag ? undefined : note(name, 'is missing', violations);
    const filled = take(fillSlot(slot, value, isFlag || behindSeparator), name, violations);
    return filled === undefined ? undefined : text + filled;
  };
}

function textFiller(text: string): Fill {
  const { parts } = parseTemplate(text);
  return (args, violations) => {
    let filled = '';
    for (const part of parts) {
      if (typeof part === 'string') filled += part;
      else {
        const value = args[part.name] ?? '';
        const plain = typeof value === 'object' ? JSON.stringify(value) : String(value);
        filled +=
          take(
            plain.isWellFormed() ? textOf(plain) : { wrong: 'must be well-formed Unicode' },
            part.name,
            violations,
          ) ?? '';
      }
    }
    return filled;
  };
}

/** A literal path, or an argument as a whole. Relative to the workspace and without `./`. */
function pathFiller(text: string, field: string): Fill {
  const template = parseTemplate(text);
  const name = soleName(template);
  if (name === undefined) {
    const filled = fillSlot({ type: 'path' }, text, false);
    if (template.names.length > 0 || 'wrong' in filled) {
      throw new Error(
        `${field}: expected a path below the workspace, or {name} alone, found ${JSON.stringify(text)}.`,
      );
    }
    return () => filled.text.slice('./'.length);
  }
  return (args, violations) => {
    const value = args[name];
    if (value === undefined || value === null) return note(name, 'is missing', violations);
    return take(fillSlot({ type: 'path' }, value, false), name, violations)?.slice('./'.length);
  };
}

function take(filled: Filled, name: string, violations: Violation[]): string | undefined {
  return 'text' in filled ? filled.text : note(name, filled.wrong, violations);
}

/** An argument that stands in several places is wrong once. */
function note(name: string, message: string, violations: Violation[]): undefined {
  const pointer = `/${name}`;
  if (violations.some((each) => each.pointer === pointer && each.message === message)) return;
  violations.push({ pointer, message });
}

function unsafe(violations: readonly Violation[]): ToolFailure {
  const message = `Arguments cannot be placed in the command: ${violations.map((each) => `${each.pointer} ${each.message}`).join('; ')}.`;
  return toolFailure('UNSAFE_ARGUMENT', message, {
    partialSideEffects: false,
    details: { violations: violations.map((each) => ({ ...each })) },
  });
}

function checkSize(argv: readonly string[]): void {
  const bytes = argv.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  if (bytes <= MAX_ARGV_BYTES) return;
  throw new ToolFailure(
    'PAYLOAD_TOO_LARGE',
    `The command has ${bytes} bytes; ${MAX_ARGV_BYTES} are allowed.`,
    {
      partialSideEffects: false,
    },
  );
}
