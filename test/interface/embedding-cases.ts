/** Embeddings, as Sounding promises them. */
import assert from "node:assert/strict";
import { BadRequestError } from "@sounding/client";
import type { InterfaceCase } from "./interface-case.ts";
import { post } from "./raw-request.ts";

export const embeddingCases: readonly InterfaceCase[] = [
  {
    name: "vectors are in the order of the inputs, as numbers or base64",
    shows: ["embeddings/embeddings"],
    async run({ client, facts }) {
      const answer = await client.embeddings.create({
        model: "embedder",
        input: ["number 1", "number 2"],
        dimensions: 4,
      });
      assert.deepEqual(
        answer.data.map(({ embedding, index }) => [embedding.length, embedding[0], index]),
        [
          [4, 1, 0],
          [4, 2, 1],
        ],
      );
      assert.deepEqual([answer.model, answer.usage.prompt_tokens], ["embedder", 2]);
      const tokens = await client.embeddings.create({ model: "embedder", input: [3, 4] });
      assert.equal(tokens.data[0]!.embedding[0], 7);
      const numbers = await post(facts, "/v1/embeddings", { model: "embedder", input: "number 5" });
      const { data } = (await numbers.json()) as { data: { embedding: number[] }[] };
      assert.equal(data[0]!.embedding[0], 5);
      // A synchronous client throws at once.
      const refused = async () => await client.embeddings.create({ model: "embedder", input: [] });
      await assert.rejects(refused, (error: unknown) => error instanceof BadRequestError && error.param === "input");
    },
  },
];
