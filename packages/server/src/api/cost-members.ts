/** What a usage tells of the cost, in OpenRouter's shape. https://openrouter.ai/docs/use-cases/usage-accounting */
import { Type } from "typebox";

const cost = (description: string) => Type.Number({ minimum: 0, description });

export const costMembers = {
  cost: Type.Optional(
    cost(
      "What the call cost, in the currency of the server's prices, other attempts and guardrails included; absent if it is not known.",
    ),
  ),
  cost_details: Type.Optional(
    Type.Union(
      [
        Type.Object(
          {
            upstream_inference_prompt_cost: Type.Optional(
              cost("Cost of the prompt, of the call itself and of searches."),
            ),
            upstream_inference_completions_cost: Type.Optional(cost("Cost of what was generated.")),
          },
          { additionalProperties: true },
        ),
        Type.Null(),
      ],
      { description: "Parts of the cost." },
    ),
  ),
};
