/** Engines that nobody configured: vendors whose key is in the environment, and Ollama on its usual port. */
import { Type, type Static } from "typebox";
import { Value } from "typebox/value";
import { engineSettings, type EngineSettings } from "./engine-settings.ts";
import { milliseconds } from "./quantities.ts";
import { secret } from "./secret.ts";
import { typedMembers } from "./setting-schema.ts";

/** What an engine is made of when the vendor's key is all that is known; `env` is the vendor's own name for its key. */
const vendors = {
  openai: { env: "OPENAI_API_KEY", type: "openai_compatible", base_url: "https://api.openai.com/v1" },
  anthropic: { env: "ANTHROPIC_API_KEY", type: "anthropic" },
  google: { env: "GEMINI_API_KEY", type: "google" },
  mistral: { env: "MISTRAL_API_KEY", type: "mistral" },
  cohere: { env: "COHERE_API_KEY", type: "cohere" },
  openrouter: { env: "OPENROUTER_API_KEY", type: "openai_compatible", base_url: "https://openrouter.ai/api/v1" },
  groq: { env: "GROQ_API_KEY", type: "openai_compatible", base_url: "https://api.groq.com/openai/v1" },
  deepseek: { env: "DEEPSEEK_API_KEY", type: "openai_compatible", base_url: "https://api.deepseek.com/v1" },
  xai: { env: "XAI_API_KEY", type: "openai_compatible", base_url: "https://api.x.ai/v1" },
} as const;

type Vendor = keyof typeof vendors;
const vendorNames = Object.keys(vendors) as Vendor[];

const vendorKey = (vendor: Vendor) =>
  Type.Optional(
    secret(`Key of the engine \`${vendor}\`, which is there when the key is.`, { env: vendors[vendor].env }),
  );

export const discovery = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description:
        "Offer models that nobody configured: those of a vendor whose key is in the environment, those of Ollama, and those that configured engines list.",
    }),
    refresh_interval_ms: milliseconds(600_000, "Time between two looks at what the engines offer."),
    ollama_url: Type.String({
      pattern: "^https?://",
      default: "http://127.0.0.1:11434",
      description: "Where to look for Ollama; the engine `ollama` is there while it answers.",
    }),
    api_keys: Type.Object(
      {
        openai: vendorKey("openai"),
        anthropic: vendorKey("anthropic"),
        google: vendorKey("google"),
        mistral: vendorKey("mistral"),
        cohere: vendorKey("cohere"),
        openrouter: vendorKey("openrouter"),
        groq: vendorKey("groq"),
        deepseek: vendorKey("deepseek"),
        xai: vendorKey("xai"),
      } satisfies Record<Vendor, unknown>,
      { default: {}, description: "Keys of vendors whose models appear by themselves." },
    ),
  },
  { default: {}, description: "Models that appear by themselves." },
);
type DiscoverySettings = Static<typeof discovery>;

export interface ImplicitEngine {
  readonly settings: EngineSettings;
  /** Whether it is there only while it answers. */
  readonly optional: boolean;
}

const members = typedMembers(engineSettings);

function withDefaults(settings: { type: EngineSettings["type"] } & Record<string, unknown>): EngineSettings {
  return Value.Default(members!.get(settings.type)!, settings) as EngineSettings;
}

/** The engines that discovery adds, by name. An entry under `engines` with the same name comes before. */
export function implicitEngines(settings: DiscoverySettings): Readonly<Record<string, ImplicitEngine>> {
  if (!settings.enabled) return {};
  const keyed = vendorNames.flatMap((vendor): [string, ImplicitEngine][] => {
    const apiKey = settings.api_keys[vendor];
    if (apiKey === undefined) return [];
    const { env: _env, ...known } = vendors[vendor];
    return [[vendor, { settings: withDefaults({ ...known, api_key: apiKey }), optional: false }]];
  });
  const ollama = withDefaults({
    type: "openai_compatible",
    base_url: `${settings.ollama_url.replace(/\/+$/, "")}/v1`,
  });
  return { ...Object.fromEntries(keyed), ollama: { settings: ollama, optional: true } };
}
