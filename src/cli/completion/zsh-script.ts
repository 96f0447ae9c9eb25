// The completion script for zsh: commands and options with what they do.
import { everyCommand, type TreeCommand } from './command-tree.ts';

/** To be read by `source <(ute completion zsh)` after compinit, or kept as _ute in a folder of $fpath. */
export function zshScript(tree: TreeCommand): string {
  const all = [...everyCommand(tree)];
  const paths = all.filter((each) => each !== tree).map(({ path }) => quoted(path));
  const valued = all.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ flags }) => flags.map((flag) => `${path} ${flag}`)),
  );
  const choices = all.flatMap(({ path, options }) =>
    options
      .filter(({ choices: only }) => only.length > 0)
      .flatMap(({ flags, choices: only }) =>
        flags.map(
          (flag) => `    ${quoted(`${path} ${flag}`)}) compadd -- ${only.map(quoted).join(' ')}; return ;;`,
        ),
      ),
  );
  const name = tree.name;
  return `#compdef ${name}
# Completion of ${name} for zsh: source <(${name} completion zsh)
_${name}() {
  local at=${quoted(name)} before='' i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    if [[ -n "$before" ]]; then before=''; continue; fi
    case "$at \${words[i]}" in
    ${valued.map(quoted).join(' | ')}) before="$at \${words[i]}" ;;
    ${paths.join(' | ')}) at="$at \${words[i]}" ;;
    esac
  done
  if [[ -n "$before" ]]; then
    case "$before" in
${choices.join('\n')}
    esac
    _files
    return
  fi
  case "$at" in
${all.map((each) => `    ${quoted(each.path)}) found=(${itemsOf(each).join(' ')}) ;;`).join('\n')}
  esac
  _describe -o ${quoted(name)} found || _files
}
# In a folder of $fpath this file is the function itself; else it is read by source.
if [[ \${funcstack[1]-} == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function itemsOf({ commands, options, choices }: TreeCommand): readonly string[] {
  return [
    ...commands.map(({ name, summary }) => item(name, summary)),
    ...choices.map((choice) => quoted(choice)),
    ...options.flatMap(({ flags, description }) => flags.map((flag) => item(flag, description))),
  ];
}

/** A colon ends the name. */
function item(name: string, description: string): string {
  return quoted(`${name.replaceAll(':', '\\:')}:${description}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
