/** An upstream that embeds: the first component is a number in the text, so that answers can be told apart. */
import type { Script } from "../../packages/server/test/support/scripted-upstream.ts";

export interface EmbeddingsAsked {
  readonly input: readonly (string | number[])[];
  readonly encoding_format: string;
  readonly dimensions?: number;
}

/** The vector of a text: its number, or the sum of its tokens, and zeros. */
export function vectorOf(input: string | number[], length: number): Float32Array {
  const first =
    typeof input === "string" ? Number(input.replace(/\D/g, "")) : input.reduce((sum, each) => sum + each, 0);
  return Float32Array.from({ length }, (_, index) => (index === 0 ? first : 0.1));
}

/** Embeds every text by its number. */
export const embedNumbers =
  (form: "base64" | "float", more: object = {}): Script =>
  (exchange) => {
    const { dimensions = 3, input } = exchange.json as EmbeddingsAsked;
    const data = input.map((each, index) => {
      const vector = vectorOf(each, dimensions);
      const embedding = form === "float" ? [...vector] : Buffer.from(vector.buffer).toString("base64");
      return { object: "embedding", index, embedding };
    });
    exchange.answer({
      object: "list",
      data,
      model: "upstream",
      usage: { prompt_tokens: input.length, total_tokens: input.length },
      ...more,
    });
  };
