// The completion script for bash: a table of what may follow which words, written out as `case`.
import { everyCommand, type TreeCommand, type TreeOption } from './command-tree.ts';

/** To be read by `source <(ute completion bash)`; runs on bash 3.2, as macOS has it. */
export function bashScript(tree: TreeCommand): string {
  const all = [...everyCommand(tree)];
  const paths = all.filter((each) => each !== tree).map(({ path }) => quoted(path));
  const words = all.map((each) => `    ${quoted(each.path)}) words=${quoted(wordsOf(each).join(' '))} ;;`);
  const valued = all.flatMap((each) => optionsWithValue(each).map(({ key }) => quoted(key)));
  const choices = all
    .flatMap(optionsWithValue)
    .filter(({ option }) => option.choices.length > 0)
    .map(({ key, option }) => `    ${quoted(key)}) words=${quoted(option.choices.join(' '))} ;;`);
  const name = tree.name;
  return `# Completion of ${name} for bash: source <(${name} completion bash)
_${name}_completion() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at=${quoted(name)} words='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
    ${valued.join(' | ')})
      # Its value is the next word, which may be the one that is typed now.
      if ((i + 1 == COMP_CWORD)); then
        _${name}_values "$at \${COMP_WORDS[i]}" "$cur"
        return
      fi
      ((i++))
      ;;
    ${paths.join(' | ')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
# Where there are only so many values; else nothing, and bash completes the names of files.
_${name}_values() {
  local words=''
  case "$1" in
${choices.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$2"))
}
complete -o default -F _${name}_completion ${name}
`;
}

function wordsOf({ commands, options, choices }: TreeCommand): readonly string[] {
  return [...commands.map(({ name }) => name), ...choices, ...options.flatMap(({ flags }) => flags)];
}

/** Under the words before it and the flag, as the loop of the script sees them. */
function optionsWithValue({ path, options }: TreeCommand): { key: string; option: TreeOption }[] {
  const valued = options.filter(({ takesValue }) => takesValue);
  return valued.flatMap((option) => option.flags.map((flag) => ({ key: `${path} ${flag}`, option })));
}

/** One word of a shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
