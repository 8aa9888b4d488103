/** The completion script for fish. https://fishshell.com/docs/current/completions.html */
import type { CommandNode, CompletedOption, Values } from "./command-tree.ts";
import { pathText } from "./path-text.ts";

export function renderFish(nodes: readonly CommandNode[]): string {
  const commandPaths = nodes.filter(({ path }) => path.length > 0).map(({ path }) => quoted(pathText(path)));
  return `# Completion of sounding in fish: sounding completion fish | source
function __sounding_is_at
    set -l place ""
    for word in (commandline -opc)[2..]
        if contains -- "$place $word" ${commandPaths.join(" ")}
            set place "$place $word"
        end
    end
    test "$place" = "$argv[1]"
end
complete -c sounding -f
${nodes.flatMap(linesOf).join("\n")}
`;
}

function linesOf({ path, children, options, values }: CommandNode): string[] {
  const start = `complete -c sounding -n ${quoted(`__sounding_is_at ${quoted(pathText(path))}`)}`;
  const commands = children.map(({ name, summary }) => `${start} -a ${name} -d ${quoted(summary)}`);
  const own = children.length > 0 || values === "any" ? [] : [`${start} ${action(values)}`];
  return [...commands, ...own, ...options.map((option) => `${start} ${optionWords(option)}`)];
}

function optionWords({ long, short, description, values }: CompletedOption): string {
  return [
    `-l ${long.slice(2)}`,
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(values === undefined ? [] : [`-r ${action(values)}`]),
    `-d ${quoted(description)}`,
  ].join(" ");
}

function action(values: Values): string {
  if (values === "any") return "-f";
  if (values === "file") return "-F";
  return values === "folder" ? "-f -a '(__fish_complete_directories)'" : `-f -a ${quoted(values.words.join(" "))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
}
