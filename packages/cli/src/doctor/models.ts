/** Checks whether the key works, and which tasks the running server's models support. */
import { AsyncSounding, isSoundingError, type Model } from "@sounding/client";
import type { Config } from "@sounding/server";
import { failed, ok, warning, type Finding } from "./finding.ts";

const howTo = {
  chat: "Set a vendor's key in the server's environment (OPENAI_API_KEY, …), download a model with `sounding models pull`, or configure `engines` in sounding.yaml.",
  speech: "The built-in engines flite and espeak-ng provide voices unless discovery.enabled is false.",
  transcription:
    "On Debian and Ubuntu, the server adds PocketSphinx to its data directory unless discovery.install is false. Elsewhere, download a model for sherpa-onnx with `sounding models pull`.",
} as const;

/** The model that always exists and is useful only for testing. */
const trialModel = "sounding-trial";

interface CheckedServer {
  readonly url: string;
  /** The API key; undefined if neither an option, the environment nor a profile has one. */
  readonly key: string | undefined;
  /** Of this machine. */
  readonly config: Config | undefined;
  readonly signal: AbortSignal;
}

export async function checkModels({ url, key, config, signal }: CheckedServer): Promise<Finding[]> {
  if (key === undefined) {
    const message = `no API key for ${url}: run \`sounding login\`, set SOUNDING_API_KEY, or use --key-file FILE`;
    return [warning("key", message, "To create a key, see `sounding key create --help`.")];
  }
  const client = new AsyncSounding({ apiKey: key, baseUrl: url, timeout: 10, maxRetries: 0 });
  try {
    const findings: Finding[] = [];
    for (const capability of ["chat", "speech", "transcription"] as const) {
      const { data } = await client.models.list({ capability, signal });
      findings.push(checkCapability(capability, data, config));
    }
    return [ok("key", "the server accepts the key"), ...findings];
  } catch (error) {
    if (signal.aborted || !isSoundingError(error)) throw error;
    return [
      failed(
        "key",
        error.message,
        "Run `sounding login`, or set a key of this server in SOUNDING_API_KEY or --key-file.",
      ),
    ];
  }
}

function checkCapability(
  capability: keyof typeof howTo,
  models: readonly Model[],
  config: Config | undefined,
): Finding {
  const others = models.filter(({ id }) => id !== trialModel);
  if (others.length === 0) {
    const message = models.length === 0 ? "no model" : `only ${trialModel}, which is for testing the pipeline`;
    return warning(capability, message, howTo[capability]);
  }
  const isPocketSphinx = ({ engine }: Model): boolean => (config?.engines[engine]?.type ?? engine) === "pocketsphinx";
  if (capability === "transcription" && others.every(isPocketSphinx))
    return warning(
      capability,
      "only PocketSphinx, which makes about six times as many errors as Whisper and needs more than twice its CPU",
      "Add Whisper with `sounding models pull whisper-tiny.en` (English) or `whisper-base` (all languages); sherpa_onnx must be installed.",
    );
  return ok(capability, shortList(others.map(({ id }) => id)));
}

function shortList(ids: readonly string[]): string {
  const more = ids.length - 4;
  return more > 1 ? `${ids.slice(0, 4).join(", ")} and ${more} more` : ids.join(", ");
}
