// `ute completion`: a script that has a shell complete commands, options and the values that there are only so many of.
import { Argument, type Command } from 'commander';
import type { CliIo } from '../cli-io.ts';
import { bashScript } from '../completion/bash-script.ts';
import { commandTree } from '../completion/command-tree.ts';
import { fishScript } from '../completion/fish-script.ts';
import { zshScript } from '../completion/zsh-script.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function addCompletionCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  program
    .command('completion')
    .summary('script that completes commands in a shell')
    .description(
      'A script that completes commands and options in a shell: source <(ute completion bash), source <(ute completion zsh), ute completion fish | source.',
    )
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action((shell: Shell) => {
      io.stdout(SCRIPTS[shell](commandTree(program)));
      finish(EXIT.ok);
    });
}
