/**
 * Splits the text of a model into blocks and spans of light Markdown: code, headings, lists, bold, italics, links. Everything
 * else stays text.
 */

export type Block =
  | { readonly kind: "text"; readonly start: number; readonly text: string }
  | { readonly kind: "heading"; readonly start: number; readonly text: string }
  | { readonly kind: "code"; readonly start: number; readonly language: string; readonly text: string }
  | { readonly kind: "list"; readonly start: number; readonly items: readonly ListItem[] };

export interface ListItem {
  readonly depth: number;
  /** `•`, or a number with its point. */
  readonly marker: string;
  readonly text: string;
}

export type Span =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "bold"; readonly text: string }
  | { readonly kind: "italic"; readonly text: string }
  | { readonly kind: "link"; readonly text: string; readonly url: string };

const patterns = {
  fence: /^ {0,3}(?<fence>`{3,}|~{3,})[ \t]*(?<language>[^\s`]{0,40})[^`]*$/,
  heading: /^#{1,6}[ \t]+(?<text>\S.*)$/,
  item: /^(?<indent>[ \t]*)(?:[-*+]|(?<number>\d{1,9})[.)])[ \t]+(?<text>\S.*)$/,
} as const;

/**
 * The blocks of a text that begins with one whose blocks are known. All of them but two stay, so that a growing text costs
 * no more than what is new: an unfinished line may still continue the block before it.
 */
export function splitBlocks(text: string, known: readonly Block[] = []): readonly Block[] {
  const finished = known.slice(0, -2);
  const from = known.at(finished.length)?.start ?? 0;
  return [...finished, ...splitFrom(text, from)];
}

function splitFrom(text: string, from: number): Block[] {
  const blocks: Block[] = [];
  let position = from;
  /** The block that a line can continue. */
  let open: { start: number; lines: string[] } | undefined;
  let list: { start: number; items: ListItem[] } | undefined;
  const finish = (): void => {
    if (open !== undefined) blocks.push({ kind: "text", start: open.start, text: open.lines.join("\n") });
    if (list !== undefined) blocks.push({ kind: "list", ...list });
    open = undefined;
    list = undefined;
  };
  while (position < text.length) {
    const start = position;
    const line = lineAt(text, position);
    position += line.length + 1;
    const fence = patterns.fence.exec(line)?.groups;
    if (fence !== undefined) {
      finish();
      const code = readCode(text, position, fence["fence"]!);
      blocks.push({ kind: "code", start, language: fence["language"]!, text: code.text });
      position = code.end;
      continue;
    }
    const heading = patterns.heading.exec(line)?.groups;
    const item = patterns.item.exec(line)?.groups;
    if (line.trim() === "") finish();
    else if (heading !== undefined) {
      finish();
      blocks.push({ kind: "heading", start, text: heading["text"]! });
    } else if (item !== undefined) {
      if (list === undefined) finish();
      list ??= { start, items: [] };
      list.items.push(toItem(item));
    } else if (list !== undefined && /^[ \t]/.test(line)) {
      const last = list.items.pop()!;
      list.items.push({ ...last, text: `${last.text}\n${line.trim()}` });
    } else {
      if (list !== undefined) finish();
      open ??= { start, lines: [] };
      open.lines.push(line);
    }
  }
  finish();
  return blocks;
}

function lineAt(text: string, position: number): string {
  const end = text.indexOf("\n", position);
  return text.slice(position, end === -1 ? text.length : end);
}

/** Code until its closing fence, or until the end of a text that is still growing. */
function readCode(text: string, from: number, fence: string): { readonly text: string; readonly end: number } {
  const closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`, "m");
  const rest = text.slice(from);
  const match = closing.exec(rest);
  if (match === null) return { text: rest, end: text.length };
  return { text: rest.slice(0, Math.max(0, match.index - 1)), end: from + match.index + match[0].length + 1 };
}

function toItem({ indent = "", number, text = "" }: Readonly<Record<string, string | undefined>>): ListItem {
  return {
    depth: Math.min(5, Math.floor(indent.replaceAll("\t", "    ").length / 2)),
    marker: number === undefined ? "•" : `${number}.`,
    text,
  };
}

const span =
  /`(?<code>[^`\n]+)`|\*\*(?<bold>[^*\n]+)\*\*|(?<![\w*])\*(?<italic>[^*\s][^*\n]{0,500})\*(?![\w*])|\[(?<label>[^\]\n]{1,500})\]\((?<target>https?:\/\/[^\s()]{1,2000})\)|(?<url>https?:\/\/[^\s<>"'`()[\]]{1,2000})/g;

export function splitSpans(text: string): readonly Span[] {
  const spans: Span[] = [];
  let position = 0;
  for (const match of text.matchAll(span)) {
    if (match.index > position) spans.push({ kind: "text", text: text.slice(position, match.index) });
    position = match.index + match[0].length;
    const { code, bold, italic, label, target, url } = match.groups!;
    if (code !== undefined) spans.push({ kind: "code", text: code });
    else if (bold !== undefined) spans.push({ kind: "bold", text: bold });
    else if (italic !== undefined) spans.push({ kind: "italic", text: italic });
    else if (target !== undefined) spans.push({ kind: "link", text: label!, url: target });
    else if (url !== undefined) {
      // Punctuation at the end belongs to the sentence.
      const end = /[.,;:!?]+$/.exec(url)?.[0] ?? "";
      const address = url.slice(0, url.length - end.length);
      spans.push({ kind: "link", text: address, url: address });
      position -= end.length;
    }
  }
  if (position < text.length) spans.push({ kind: "text", text: text.slice(position) });
  return spans;
}
