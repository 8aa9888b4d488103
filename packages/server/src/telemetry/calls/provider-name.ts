/** Maps engines to the well-known values of `gen_ai.provider.name`. */

interface EngineSettings {
  readonly type: string;
  readonly base_url?: string | undefined;
}

const byType: Readonly<Record<string, string>> = {
  azure_openai: "azure.ai.openai",
  anthropic: "anthropic",
  google: "gcp.gemini",
  amazon_bedrock: "aws.bedrock",
  mistral: "mistral_ai",
  cohere: "cohere",
};

/** Vendors with an OpenAI-compatible API, by their hosts. */
const byHost: Readonly<Record<string, string>> = {
  "api.openai.com": "openai",
  "api.deepseek.com": "deepseek",
  "api.groq.com": "groq",
  "api.perplexity.ai": "perplexity",
  "api.x.ai": "x_ai",
};

/** The vendor of an engine; the engine's configured name if the vendor is unknown. */
export function providerName(engine: string, settings: EngineSettings | undefined): string {
  if (settings === undefined) return engine;
  const host = URL.parse(settings.base_url ?? "")?.hostname ?? "";
  return byType[settings.type] ?? byHost[host] ?? engine;
}
