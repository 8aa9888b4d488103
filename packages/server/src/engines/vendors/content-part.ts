/**
 * Parts of a message's content, from OpenAI's form to the AI SDK's.
 * https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages
 */
import type { LanguageModelV4FilePart, LanguageModelV4TextPart, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { cacheHint, type CacheHinted } from "../../api/chat-request.ts";
import { AppError } from "../../errors.ts";
import { unsupported } from "./parameter-support.ts";
import { isObject, type JsonObject } from "../../json-object.ts";

/** What a vendor accepts in a message in addition to text. */
export interface ContentSupport {
  /** System messages after the first other message. */
  readonly laterSystemMessages: boolean;
  /** Images by address; data URLs are taken by all. */
  readonly imageUrl: (url: URL) => boolean;
  /** Whether `detail` of an image other than `auto` is honored. */
  readonly imageDetail: boolean;
  readonly audio: boolean;
  /** Media types of files; undefined for no files at all. */
  readonly fileType?: RegExp;
  /** Anthropic's `cache_control` on parts, messages and tools. */
  readonly cacheControl: boolean;
}

export interface PartContext {
  readonly label: string;
  readonly support: ContentSupport;
  /** The path of the part, for error messages: `messages[0].content[1]`. */
  readonly path: string;
}

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

const dataUrlHead = /^data:(?<type>[\w.+-]+\/[\w.+-]+)(?:;[\w=.+-]+)*;base64$/;

function invalid(path: string, problem: string): AppError {
  return new AppError("invalid_request", `${path} ${problem}`, { param: path });
}

/** Refuses members of an object that would otherwise be lost without a word. */
export function refuseUnknownMembers(value: JsonObject, known: readonly string[], context: PartContext): void {
  for (const [name, member] of Object.entries(value)) {
    if (member === null || member === undefined || known.includes(name)) continue;
    if (name === "cache_control" && context.support.cacheControl) continue;
    throw unsupported(context.label, `${context.path}.${name}`, "the API has no equivalent.");
  }
}

/** Anthropic's `cache_control` of a part, message or tool, in the adapter's form. */
export function cacheOptions(value: JsonObject & CacheHinted): { providerOptions?: SharedV4ProviderOptions } {
  const control = value["cache_control"] ?? value[cacheHint];
  if (!isObject(control)) return {};
  return { providerOptions: { anthropic: { cacheControl: control } } as SharedV4ProviderOptions };
}

function readDataUrl(url: string, path: string): { mediaType: string; data: string } {
  // Only the head is matched: the data may be megabytes, and the vendor validates them anyway.
  const comma = url.indexOf(",");
  const mediaType = dataUrlHead.exec(url.slice(0, Math.max(0, comma)))?.groups?.["type"];
  const data = url.slice(comma + 1);
  if (mediaType === undefined || data === "") {
    throw invalid(path, "must be a data URL of the form data:<media type>;base64,<data>.");
  }
  return { mediaType, data };
}

function inlineFile(mediaType: string, data: string, filename?: string): LanguageModelV4FilePart {
  return { type: "file", mediaType, data: { type: "data", data }, ...(filename === undefined ? {} : { filename }) };
}

function imageSource(url: string, path: string, context: PartContext): LanguageModelV4FilePart {
  if (url.startsWith("data:")) {
    const { mediaType, data } = readDataUrl(url, path);
    if (!mediaType.startsWith("image/")) throw invalid(path, `has media type ${mediaType}; it must be an image.`);
    return inlineFile(mediaType, data);
  }
  if (!URL.canParse(url)) throw invalid(path, "must be a data URL or an address.");
  const address = new URL(url);
  if (!context.support.imageUrl(address)) {
    throw unsupported(context.label, path, "the API does not fetch images from this address. Send a data URL.");
  }
  return { type: "file", mediaType: "image/*", data: { type: "url", url: address } };
}

function toImagePart(part: JsonObject, context: PartContext): LanguageModelV4FilePart {
  const image = part["image_url"];
  const path = `${context.path}.image_url`;
  if (!isObject(image) || typeof image["url"] !== "string") throw invalid(path, "must be an object with a url.");
  refuseUnknownMembers(image, ["url", "detail"], { ...context, path });
  const file = imageSource(image["url"], `${path}.url`, context);
  const detail = image["detail"];
  if (detail === undefined || detail === null || detail === "auto") return file;
  if (!context.support.imageDetail) throw unsupported(context.label, `${path}.detail`, "it must be auto.");
  if (detail !== "low" && detail !== "high") throw invalid(`${path}.detail`, "must be auto, low or high.");
  return { ...file, providerOptions: { cohere: { detail } } };
}

const audioTypes: Readonly<Record<string, string>> = { wav: "audio/wav", mp3: "audio/mpeg" };

function toAudioPart(part: JsonObject, context: PartContext): LanguageModelV4FilePart {
  if (!context.support.audio)
    throw unsupported(context.label, context.path, "the API does not accept audio in messages.");
  const audio = part["input_audio"];
  const path = `${context.path}.input_audio`;
  const mediaType = isObject(audio) ? audioTypes[String(audio["format"])] : undefined;
  if (!isObject(audio) || typeof audio["data"] !== "string" || mediaType === undefined) {
    throw invalid(path, "must be an object with base64 data and a format, wav or mp3.");
  }
  refuseUnknownMembers(audio, ["data", "format"], { ...context, path });
  return inlineFile(mediaType, audio["data"]);
}

function toFilePart(part: JsonObject, context: PartContext): LanguageModelV4FilePart {
  const { label, support } = context;
  if (support.fileType === undefined)
    throw unsupported(label, context.path, "the API does not accept files in messages.");
  const file = part["file"];
  const path = `${context.path}.file`;
  if (!isObject(file)) throw invalid(path, "must be an object with file_data.");
  refuseUnknownMembers(file, ["file_data", "filename"], { ...context, path });
  if (typeof file["file_data"] !== "string") throw invalid(`${path}.file_data`, "must be a data URL.");
  const { mediaType, data } = readDataUrl(file["file_data"], `${path}.file_data`);
  if (!support.fileType.test(mediaType)) {
    throw unsupported(label, `${path}.file_data`, `the API does not accept files of type ${mediaType}.`);
  }
  return inlineFile(mediaType, data, typeof file["filename"] === "string" ? file["filename"] : undefined);
}

function toTextPart(part: JsonObject, name: string, context: PartContext): LanguageModelV4TextPart {
  const text = part[name];
  if (typeof text !== "string") throw invalid(`${context.path}.${name}`, "must be a string.");
  return { type: "text", text };
}

const translators: Readonly<Record<string, (part: JsonObject, context: PartContext) => UserPart>> = {
  text: (part, context) => toTextPart(part, "text", context),
  refusal: (part, context) => toTextPart(part, "refusal", context),
  image_url: toImagePart,
  input_audio: toAudioPart,
  file: toFilePart,
};

/** One part of a message's content. */
export function toPart(part: JsonObject, context: PartContext): UserPart {
  const kind = String(part["type"]);
  const translate = Object.hasOwn(translators, kind) ? translators[kind] : undefined;
  if (translate === undefined) {
    throw invalid(`${context.path}.type`, `is "${kind}"; allowed: ${Object.keys(translators).join(", ")}.`);
  }
  refuseUnknownMembers(part, ["type", kind], context);
  const translated = translate(part, context);
  return { ...translated, ...cacheOptions(part) };
}
