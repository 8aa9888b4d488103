/** Blocks of content as the parts of a chat message. */
import type { ChatPart } from "../chat/chat-messages.ts";
import { isObject, nonEmptyText, type JsonObject } from "../json-object.ts";
import { invalid, type Refuse } from "../chat/untranslatable.ts";

/** A block and where it is, for errors. */
export interface PlacedBlock {
  readonly block: JsonObject;
  readonly path: string;
}

const textPart = (text: string): ChatPart => ({ type: "text", text });

/** In place of a block that a description leaves out. */
const mentioned = ({ type }: JsonObject): ChatPart => textPart(`[${nonEmptyText(type) ?? "block"}]`);

/** The parts of text, images, documents and search results; other blocks are refused. */
export function toChatParts({ block, path }: PlacedBlock, refuse: Refuse): ChatPart[] {
  switch (block["type"]) {
    case "text":
      return [textPart(textIn(block, "text", path))];
    case "image":
      return [imagePart({ block, path })].flatMap((part) => part ?? refusedSource({ block, path }, refuse));
    case "document":
      refuseCitations({ block, path }, refuse);
      return documentParts({ block, path }, refuse);
    case "search_result":
      refuseCitations({ block, path }, refuse);
      return searchResultParts({ block, path }, refuse);
    default:
      refuse(`${path}.type`, `is ${JSON.stringify(block["type"])}`);
      return [mentioned(block)];
  }
}

export function textIn(block: JsonObject, name: string, path: string): string {
  const value = block[name];
  if (typeof value === "string") return value;
  throw invalid(`${path}.${name}`, "must be a string.");
}

function sourceOf({ block, path }: PlacedBlock): JsonObject {
  if (isObject(block["source"])) return block["source"];
  throw invalid(`${path}.source`, "must be an object.");
}

function imagePart({ block, path }: PlacedBlock): ChatPart | undefined {
  const source = sourceOf({ block, path });
  const at = `${path}.source`;
  if (source["type"] === "url") return { type: "image_url", image_url: { url: textIn(source, "url", at) } };
  if (source["type"] !== "base64") return undefined;
  return {
    type: "image_url",
    image_url: { url: dataUrl(textIn(source, "media_type", at), textIn(source, "data", at)) },
  };
}

function refusedSource({ block, path }: PlacedBlock, refuse: Refuse): ChatPart[] {
  refuse(`${path}.source.type`, `is ${JSON.stringify(sourceOf({ block, path })["type"])}`);
  return [mentioned(block)];
}

function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

function refuseCitations({ block, path }: PlacedBlock, refuse: Refuse): void {
  const { citations } = block;
  if (isObject(citations) && citations["enabled"] === true) refuse(`${path}.citations.enabled`, "is true");
}

/** Files stay files; the text of others is preceded by title and context. */
function documentParts({ block, path }: PlacedBlock, refuse: Refuse): ChatPart[] {
  const source = sourceOf({ block, path });
  const at = `${path}.source`;
  const title = nonEmptyText(block["title"]);
  const context = nonEmptyText(block["context"]);
  const heading = (...lines: readonly (string | undefined)[]): ChatPart[] =>
    lines.flatMap((line) => (line === undefined ? [] : [textPart(line)]));
  switch (source["type"]) {
    case "base64": {
      const data = dataUrl(textIn(source, "media_type", at), textIn(source, "data", at));
      return [...heading(context), { type: "file", file: { file_data: data, filename: title ?? "document.pdf" } }];
    }
    case "text":
      return [...heading(title, context), textPart(textIn(source, "data", at))];
    case "content":
      return [
        ...heading(title, context),
        ...nestedParts({ content: source["content"], path: `${at}.content` }, refuse),
      ];
    default:
      return refusedSource({ block, path }, refuse);
  }
}

function searchResultParts({ block, path }: PlacedBlock, refuse: Refuse): ChatPart[] {
  const { content, title, source } = block;
  const lines = [nonEmptyText(title), nonEmptyText(source)].filter((line) => line !== undefined);
  return [...lines.map(textPart), ...nestedParts({ content, path: `${path}.content` }, refuse)];
}

/** The parts of blocks within a block. */
export function nestedParts(
  { content, path }: { readonly content: unknown; readonly path: string },
  refuse: Refuse,
): ChatPart[] {
  if (typeof content === "string") return [textPart(content)];
  if (content == null) return [];
  if (!Array.isArray(content)) throw invalid(path, "must be a string or an array of blocks.");
  return content.flatMap((block: unknown, index) => {
    if (!isObject(block)) throw invalid(`${path}[${index}]`, "must be an object.");
    return toChatParts({ block, path: `${path}[${index}]` }, refuse);
  });
}
