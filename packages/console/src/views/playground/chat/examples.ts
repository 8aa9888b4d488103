/** Prompts to begin with, each of which shows something else that the playground does. */
import type { ChatParameters } from "./chat-parameters.ts";

export interface Example {
  readonly title: string;
  readonly description: string;
  readonly prompt: string;
  readonly system?: string;
  readonly parameters?: Partial<ChatParameters>;
}

const weatherTool = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "The current weather of a city",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
];

const contactSchema = {
  type: "object",
  properties: { name: { type: "string" }, company: { type: "string" }, day: { type: "string" } },
  required: ["name", "company", "day"],
  additionalProperties: false,
};

export const examples: readonly Example[] = [
  {
    title: "Explain something",
    description: "A plain answer, as it is generated",
    prompt: "Explain in five sentences how a hash map works, and when a sorted array is better.",
  },
  {
    title: "Call a tool",
    description: "The model asks for the weather; you write the result",
    prompt: "What is the weather in Lisbon? Do I need an umbrella?",
    parameters: { tools: JSON.stringify(weatherTool, null, 2) },
  },
  {
    title: "Answer as JSON",
    description: "The answer follows a JSON schema",
    prompt: "“Hi, this is Mina from Northwind. Can we meet on Tuesday?” Extract the contact.",
    parameters: {
      response_format: "json_schema",
      schema_name: "contact",
      schema: JSON.stringify(contactSchema, null, 2),
    },
  },
  {
    title: "Look at probabilities",
    description: "Every token with its alternatives",
    prompt: "Name a color, then an animal, then a city.",
    parameters: { top_logprobs: "5", temperature: "1" },
  },
];
