/** Describes a model's tokens: their bytes, which ones end an answer, and which text is a control token. */
import { LlamaVocabularyType, type LlamaModel, type Token } from "node-llama-cpp";
import { fromByteLevel } from "../byte-level.ts";

/** Token types of GGUF: https://github.com/ggml-org/llama.cpp/blob/master/include/llama.h (llama_token_type) */
const tokenTypes = { control: 3, userDefined: 4, byte: 6 } as const;

export interface Vocabulary {
  readonly size: number;
  /** The token's bytes, also of a control token. */
  bytesOf(token: number): Uint8Array;
  /** Whether the token steers the model and is not part of an answer's text. */
  isControl(token: number): boolean;
  isEnd(token: number): boolean;
  /** Of the longest token, at least 1. */
  readonly longestBytes: number;
  /** Texts of all control tokens. */
  readonly controlTexts: readonly string[];
}

function sentencePieceBytes(text: string, type: number | undefined): Buffer {
  const byte = type === tokenTypes.byte ? /^<0x([0-9A-Fa-f]{2})>$/.exec(text) : null;
  return byte === null ? Buffer.from(text.replaceAll("▁", " ")) : Buffer.from(byte[1]!, "hex");
}

export function createVocabulary(model: LlamaModel): Vocabulary {
  const { tokens, token_type } = model.fileInfo.metadata.tokenizer.ggml;
  const types: readonly number[] | undefined = token_type;
  const known = new Map<number, Uint8Array>();
  const decode = (token: number): Uint8Array => {
    const text = tokens[token];
    const type = types?.[token];
    if (text === undefined) return Buffer.alloc(0);
    if (type === tokenTypes.control || type === tokenTypes.userDefined) return Buffer.from(text);
    const kind = model.vocabularyType;
    if (kind === LlamaVocabularyType.bpe) return fromByteLevel(text) ?? Buffer.from(text);
    if (kind === LlamaVocabularyType.spm || kind === LlamaVocabularyType.ugm) return sentencePieceBytes(text, type);
    return Buffer.from(model.detokenize([token as Token], true));
  };
  return {
    // A text of GGUF has at least the bytes of its token: escapes make it longer, never shorter.
    longestBytes: tokens.reduce((longest, text) => Math.max(longest, Buffer.byteLength(text)), 1),
    size: tokens.length,
    bytesOf(token) {
      let bytes = known.get(token);
      if (bytes === undefined) known.set(token, (bytes = decode(token)));
      return bytes;
    },
    isControl: (token) => types?.[token] === tokenTypes.control,
    isEnd: (token) => model.isEogToken(token as Token),
    controlTexts: tokens.filter((text, token) => types?.[token] === tokenTypes.control && text !== ""),
  };
}
