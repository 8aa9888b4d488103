/** `sounding completion`: prints the script for completing `sounding` command lines in a shell. */
import { command } from "../command.ts";
import { renderBash } from "../completion/bash.ts";
import { commandTree } from "../completion/command-tree.ts";
import { renderFish } from "../completion/fish.ts";
import { renderZsh } from "../completion/zsh.ts";
import { exitCodes } from "../exit-codes.ts";
import { write, writeJson } from "../output.ts";

const renderers = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const;

export const completionCommand = command({
  name: "completion",
  summary: "Print a shell completion script",
  description: "With --json: one object with shell and script.",
  arguments: [{ name: "shell", description: "bash, zsh or fish.", required: true, choices: ["bash", "zsh", "fish"] }],
  examples: [
    ["source <(sounding completion bash)", "In ~/.bashrc; for zsh, in ~/.zshrc after compinit."],
    ["sounding completion fish > ~/.config/fish/completions/sounding.fish", "For fish."],
  ],
  async run({ positionals, json, io, commands }) {
    const shell = positionals[0] as keyof typeof renderers;
    const script = renderers[shell](commandTree(await Promise.all(commands.map(({ load }) => load()))));
    await (json ? writeJson(io.stdout, { shell, script }) : write(io.stdout, script));
    return exitCodes.ok;
  },
});
