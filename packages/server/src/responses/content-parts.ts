/** The parts of an item's content as chat completions have them. */
import type { ChatPart } from "../chat/chat-messages.ts";
import { invalid, type Refuse } from "../chat/untranslatable.ts";
import { isObject, nonEmptyText, type JsonObject } from "../json-object.ts";

/** @param path the content's, for errors */
export function toChatParts(content: unknown, path: string, refuse: Refuse): ChatPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw invalid(path, "must be a text or a list of parts.");
  return content.flatMap((part, index) => {
    const at = `${path}[${index}]`;
    if (!isObject(part)) throw invalid(at, "must be an object.");
    return toChatPart(part, at, refuse);
  });
}

function toChatPart(part: JsonObject, path: string, refuse: Refuse): ChatPart[] {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
      return [{ type: "text", text: textIn(part, "text", path) }];
    case "refusal":
      return [{ type: "refusal", refusal: textIn(part, "refusal", path) }];
    case "input_image": {
      const url = nonEmptyText(part["image_url"]);
      if (url === undefined) {
        refuse(`${path}.file_id`, "names an image that the vendor stores");
        return [];
      }
      const detail = nonEmptyText(part["detail"]);
      const isKnown = detail === "auto" || detail === "low" || detail === "high";
      return [{ type: "image_url", image_url: { url, ...(isKnown ? { detail } : {}) } }];
    }
    case "input_file": {
      if (part["file_data"] == null) {
        refuse(
          part["file_url"] == null ? `${path}.file_id` : `${path}.file_url`,
          "is set; only file_data is supported",
        );
        return [];
      }
      const filename = nonEmptyText(part["filename"]);
      const data = textIn(part, "file_data", path);
      return [{ type: "file", file: { file_data: data, ...(filename === undefined ? {} : { filename }) } }];
    }
    case "input_audio":
      return [part as ChatPart];
    default:
      refuse(`${path}.type`, `is ${JSON.stringify(part["type"])}`);
      return [];
  }
}

export function textIn(object: JsonObject, name: string, path: string): string {
  const value = object[name];
  if (typeof value !== "string") throw invalid(`${path}.${name}`, "must be a text.");
  return value;
}
