/** The completion script for zsh. https://zsh.sourceforge.io/Doc/Release/Completion-System.html */
import type { CommandNode, CompletedOption, Values } from "./command-tree.ts";
import { pathText } from "./path-text.ts";

export function renderZsh(nodes: readonly CommandNode[]): string {
  const commandPaths = nodes.filter(({ path }) => path.length > 0).map(({ path }) => `"${pathText(path)}"`);
  return `#compdef sounding
# Completion of sounding in zsh: source <(sounding completion zsh), after compinit
_sounding() {
  local place="" index
  local -a commands
  for ((index = 2; index < CURRENT; index++)); do
    case "$place \${words[index]}" in
      (${commandPaths.join(" | ")}) place="$place \${words[index]}" ;;
    esac
  done
  case "$place" in
${nodes.map(nodeCase).join("\n")}
  esac
}
compdef _sounding sounding
`;
}

function nodeCase({ path, children, options, values }: CommandNode): string {
  const specs = options.map((option) => `      ${optionSpec(option)}`).join(" \\\n");
  const pattern = `    ("${pathText(path)}")`;
  if (children.length === 0) {
    return `${pattern}\n    _arguments -S \\\n${specs} \\\n      '*: :${action(values)}' ;;`;
  }
  const names = children.map(({ name, summary }) => quoted(`${name}:${summary.replaceAll(":", "\\:")}`));
  return `${pattern}\n    commands=(${names.join(" ")})
    if [[ \${words[CURRENT]} == -* ]]; then
      _arguments -S \\\n${specs}
    else
      _describe command commands
    fi ;;`;
}

function optionSpec({ long, short, description, values }: CompletedOption): string {
  const text = description.replaceAll(/[[\]\\:]/g, String.raw`\$&`);
  const value = values === undefined ? "" : `: :${action(values)}`;
  // `=` takes the value as the next word too.
  const written = [values === undefined ? long : `${long}=`, ...(short === undefined ? [] : [short])];
  return written.map((name) => quoted(`*${name}[${text}]${value}`)).join(" ");
}

function action(values: Values): string {
  if (values === "any") return " ";
  if (values === "file") return "_files";
  return values === "folder" ? "_files -/" : `(${values.words.join(" ")})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
