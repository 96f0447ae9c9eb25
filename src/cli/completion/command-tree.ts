// The tree of commands as plain data: what a shell can complete after which words.
import type { Command, Option } from 'commander';

export interface TreeOption {
  /** As they are typed: `--json`, `-q`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Another word follows. */
  readonly takesValue: boolean;
  /** The only values there are; none: any. */
  readonly choices: readonly string[];
}

export interface TreeCommand {
  /** From the program on: `ute sessions create`. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  /** What follows the name, as help shows it: `<id> [options]`. */
  readonly usage: string;
  readonly description: string;
  readonly commands: readonly TreeCommand[];
  readonly options: readonly TreeOption[];
  /** Of the first argument, where there are only so many values. */
  readonly choices: readonly string[];
}

export function commandTree(command: Command, before = ''): TreeCommand {
  const path = before === '' ? command.name() : `${before} ${command.name()}`;
  const help = command.createHelp();
  const own = help.visibleOptions(command).map(optionOf);
  return {
    path,
    name: command.name(),
    summary: command.summary() || command.description(),
    usage: command.usage(),
    description: command.description(),
    // `help` of commander stands everywhere and says what --help says.
    commands: command.commands.map((each) => commandTree(each, path)),
    options: own,
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
}

/** The command itself, and everything below it, parents first. */
export function* everyCommand(tree: TreeCommand): Generator<TreeCommand> {
  yield tree;
  for (const each of tree.commands) yield* everyCommand(each);
}

function optionOf({ short, long, description, required, optional, argChoices }: Option): TreeOption {
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    takesValue: required || optional,
    choices: argChoices ?? [],
  };
}
