// The completion script for fish: a line for each command and option, in force behind the words that lead to it.
import { everyCommand, type TreeCommand, type TreeOption } from './command-tree.ts';

/** To be read by `ute completion fish | source`, or kept as ~/.config/fish/completions/ute.fish. */
export function fishScript(tree: TreeCommand): string {
  const all = [...everyCommand(tree)];
  const name = tree.name;
  const paths = all.filter((each) => each !== tree).map(({ path }) => quoted(path));
  const lines = all.flatMap((each) => {
    const start = `complete -c ${name} -n ${quoted(`__${name}_at ${quoted(each.path)}`)}`;
    return [
      ...each.commands.map((inner) => `${start} -f -a ${quoted(inner.name)} -d ${quoted(inner.summary)}`),
      ...each.choices.map((choice) => `${start} -f -a ${quoted(choice)}`),
      ...each.options.map((option) => `${start}${flagsOf(option)} -d ${quoted(option.description)}`),
    ];
  });
  return `# Completion of ${name} for fish: ${name} completion fish | source
function __${name}_at
    set -l at ${quoted(name)}
    for word in (commandline -opc)[2..-1]
        if contains -- "$at $word" ${paths.join(' ')}
            set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function flagsOf({ flags, takesValue, choices }: TreeOption): string {
  const said = flags.map((flag) => (flag.startsWith('--') ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`));
  const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : ' -f';
  return said.join('') + value;
}

/** Of fish: a backslash and a quote are the only ones that mean anything between quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
