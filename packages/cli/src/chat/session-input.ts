/** Parses the lines typed in a chat session: messages, messages of several lines between `"""`, and commands. Pure. */

export type SessionInput =
  | { readonly kind: "question"; readonly text: string }
  | { readonly kind: "command"; readonly name: string; readonly argument: string }
  /** Nothing to do; `open` while a message of several lines continues. */
  | { readonly kind: "none"; readonly open: boolean };

const fence = '"""';

/** @returns a function that takes one line and returns what it completes */
export function createSessionInput(): (line: string) => SessionInput {
  let lines: string[] | undefined;

  return (line) => {
    if (lines !== undefined) {
      const end = line.trimEnd().endsWith(fence);
      lines.push(end ? line.trimEnd().slice(0, -fence.length) : line);
      if (!end) return { kind: "none", open: true };
      const text = lines.join("\n");
      lines = undefined;
      return question(text);
    }
    const text = line.trim();
    if (text.startsWith(fence)) {
      const first = text.slice(fence.length);
      if (first.endsWith(fence)) return question(first.slice(0, -fence.length));
      lines = first === "" ? [] : [first];
      return { kind: "none", open: true };
    }
    const command = /^\/(\S*)\s*(.*)$/.exec(text);
    if (command !== null) return { kind: "command", name: command[1]!, argument: command[2]! };
    return question(text);
  };
}

function question(typed: string): SessionInput {
  const text = typed.trim();
  return text === "" ? { kind: "none", open: false } : { kind: "question", text };
}
