// The reference page of the command line: every command with its options, from the program itself.
import { commandTree, everyCommand } from '../dist/cli/completion/command-tree.js';
import { createProgram } from '../dist/cli/program.js';

/** Options that most commands have are told of once. */
const GATEWAY_OPTIONS = new Set([
  '--url',
  '--key',
  '--key-file',
  '--as-tenant',
  '--client-cert',
  '--client-key',
  '--ca-file',
]);

/** `note`: stands before everything. */
export function cliPage(note, table) {
  const tree = commandTree(createProgram({ stdout() {}, stderr() {} }, () => {}));
  const optionRows = (options) =>
    options.map(({ flags, description, choices }) => [
      flags.map((flag) => `\`${flag}\``).join(', '),
      choices.map((choice) => `\`${choice}\``).join(', '),
      description,
    ]);
  const head = ['option', 'values', 'meaning'];
  const all = [...everyCommand(tree)].filter(({ commands }) => commands.length === 0);
  const common = all.flatMap(({ options }) => options).filter(({ flags }) => GATEWAY_OPTIONS.has(flags[0]));
  const once = [...new Map(common.map((option) => [option.flags[0], option])).values()];
  const parts = all.map(({ path, usage, description, options }) => {
    const own = options.filter(({ flags }) => flags.at(-1) !== '--help' && !GATEWAY_OPTIONS.has(flags[0]));
    const asks = options.some(({ flags }) => GATEWAY_OPTIONS.has(flags[0]));
    const note = asks ? ' Asks a running gateway.' : '';
    const rows = own.length === 0 ? '' : `\n${table(head, optionRows(own))}`;
    return `\n## \`${path}\`\n\n\`${path} ${usage}\`\n\n${description}${note}\n${rows}`;
  });
  return (
    `${note}# The command line\n\n\`ute help\` says the same. Commands that ask a running gateway take:\n\n${table(head, optionRows(once))}` +
    `\nA shell completes commands, options and the values in the tables: \`source <(ute completion bash)\` in ~/.bashrc, \`source <(ute completion zsh)\` in ~/.zshrc ` +
    `behind \`compinit\`, \`ute completion fish > ~/.config/fish/completions/ute.fish\`.\n${parts.join('')}`
  );
}
