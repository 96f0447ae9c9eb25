// Command lines: text to argv, once, at load. There is no shell, and nothing here that would look like one.
import { parseTemplate, type Template } from '../../lib/text/template.ts';

/** Characters that mean something to a shell and nothing here: who writes them expects what will not happen. */
const SHELL_SYNTAX = /['"\\$`;|&<>()*?[\]~#!\n\r]/;
/** What may stand before a placeholder in one argument: `--flag=`, `-o=`. */
const FLAG = /^--?[A-Za-z0-9][A-Za-z0-9_-]*=$/;

/** One element of argv: literal text, a placeholder, or a flag with one. */
export interface Word {
  readonly text: string;
  readonly name?: string;
}

/** Throws Error with a sentence for the operator. */
export function parseCommand(command: string | readonly string[]): readonly Word[] {
  const parts = typeof command === 'string' ? splitLine(command) : command;
  const words = parts.map((part, index) => wordOf(part, `command[${index}]`));
  const [program] = words;
  if (program === undefined || program.text === '' || program.name !== undefined) {
    throw new Error('command: the first word is the program, and must not hold a placeholder.');
  }
  return words;
}

function splitLine(line: string): readonly string[] {
  const found = SHELL_SYNTAX.exec(line)?.[0];
  if (found === undefined) return line.split(/[ \t]+/).filter((part) => part !== '');
  throw new Error(
    `command: found ${JSON.stringify(found)}, which means nothing without a shell; write the command as a list of arguments.`,
  );
}

function wordOf(part: string, field: string): Word {
  if (part.includes('\0')) throw new Error(`${field}: an argument cannot hold a NUL character.`);
  const { parts }: Template = parseTemplate(part);
  const [first = '', second, ...more] = parts;
  if (parts.length === 0) return { text: '' };
  if (typeof first === 'object' && second === undefined) return { text: '', name: first.name };
  if (typeof first === 'string' && second === undefined) return { text: first };
  if (typeof first === 'string' && FLAG.test(first) && typeof second === 'object' && more.length === 0) {
    return { text: first, name: second.name };
  }
  throw new Error(
    `${field}: ${JSON.stringify(part)} mixes a placeholder with text; expected {name} alone, or --flag={name}.`,
  );
}
