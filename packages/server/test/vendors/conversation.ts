/** One rich request in OpenAI's form that every vendor must receive in full. */

export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const weatherTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a place",
    parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
  },
};

export const messages = [
  { role: "system", content: "Be brief." },
  { role: "developer", content: [{ type: "text", text: "Use metric units." }] },
  {
    role: "user",
    content: [
      { type: "text", text: "What is this, and the weather in Rome?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}`, detail: "auto" } },
    ],
  },
  {
    role: "assistant",
    content: "I look it up.",
    refusal: null,
    annotations: [],
    tool_calls: [
      { id: "call_0000001", type: "function", function: { name: "get_weather", arguments: '{"place":"Rome"}' } },
    ],
  },
  { role: "tool", tool_call_id: "call_0000001", content: '{"celsius":21}' },
  { role: "user", content: "And tomorrow?" },
];

export const answerSchema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

export const structuredOutput = {
  type: "json_schema",
  json_schema: { name: "answer", schema: answerSchema, strict: true },
};
