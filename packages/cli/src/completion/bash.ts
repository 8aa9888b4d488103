/** The completion script for bash. https://www.gnu.org/software/bash/manual/html_node/Programmable-Completion.html */
import type { CommandNode, Values } from "./command-tree.ts";
import { pathText } from "./path-text.ts";

export function renderBash(nodes: readonly CommandNode[]): string {
  const commandPaths = nodes.filter(({ path }) => path.length > 0).map(({ path }) => `"${pathText(path)}"`);
  return `# Completion of sounding in bash: source <(sounding completion bash)
_sounding_paths() {
  # Names may have spaces.
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null || true
  COMPREPLY=($(compgen "$1" -- "$cur"))
}
_sounding() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" path="" index words=""
  # bash takes --option=value for three words.
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $prev == "=" ]]; then
    prev="\${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$path \${COMP_WORDS[index]}" in
      ${commandPaths.join(" | ")}) path="$path \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$path:$prev" in
${nodes.flatMap(optionCases).join("\n")}
  esac
  if [[ $cur == -* ]]; then
    case "$path" in
${nodes.map((node) => `      "${pathText(node.path)}") words="${wordsOf(node.options)}" ;;`).join("\n")}
    esac
  else
    case "$path" in
${nodes.map(valueCase).join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _sounding sounding
`;
}

function wordsOf(options: CommandNode["options"]): string {
  return options.flatMap(({ long, short }) => (short === undefined ? [long] : [long, short])).join(" ");
}

/** Completes the value of an option. */
function optionCases({ path, options }: CommandNode): string[] {
  return options.flatMap(({ long, short, values }) => {
    if (values === undefined) return [];
    const patterns = [long, ...(short === undefined ? [] : [short])].map((name) => `"${pathText(path)}:${name}"`);
    return [`    ${patterns.join(" | ")}) ${reply(values)} return ;;`];
  });
}

function valueCase({ path, children, values }: CommandNode): string {
  const pattern = `      "${pathText(path)}")`;
  if (children.length > 0) return `${pattern} words="${children.map(({ name }) => name).join(" ")}" ;;`;
  return `${pattern} ${reply(values)} return ;;`;
}

function reply(values: Values): string {
  if (values === "any") return "COMPREPLY=();";
  if (values === "file") return "_sounding_paths -f;";
  if (values === "folder") return "_sounding_paths -d;";
  return `COMPREPLY=($(compgen -W "${values.words.join(" ")}" -- "$cur"));`;
}
