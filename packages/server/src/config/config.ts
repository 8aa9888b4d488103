/** The whole configuration: every section of `sounding.yaml` in the order of the documentation. */
import { Type, type Static } from "typebox";
import { alerts } from "./alerts.ts";
import { audit } from "./audit.ts";
import type { ConfiguredGroup } from "./alert-groups.ts";
import { contentEncryption } from "./content-encryption.ts";
import { discovery } from "./discovery.ts";
import { engineSettings } from "./engine-settings.ts";
import { guardrails } from "./guardrails.ts";
import { limits } from "./limits.ts";
import { aliases, models, routing } from "./models.ts";
import { otlp } from "./otlp.ts";
import { redaction } from "./redaction.ts";
import { server } from "./server.ts";
import { signIn } from "./sign-in.ts";
import { speech } from "./speech.ts";
import { transcription } from "./transcription.ts";
import { storage } from "./storage.ts";
import { telemetry } from "./telemetry.ts";

export const configSchema = Type.Object({
  server,
  storage,
  telemetry,
  otlp,
  limits,
  engines: Type.Record(Type.String({ minLength: 1 }), engineSettings, {
    default: {},
    description: "Where models run: vendors, servers and local files, each under a name of your choice.",
  }),
  models,
  aliases,
  routing,
  guardrails,
  redaction,
  content_encryption: contentEncryption,
  discovery,
  speech,
  transcription,
  alerts,
  audit,
  sign_in: signIn,
});

/** A configuration with every default filled in and every `${NAME}` replaced. */
export type Config = Static<typeof configSchema> & {
  /** The groups of alert rules of the configuration and of its rule files. */
  readonly alertGroups: readonly ConfiguredGroup[];
};

const reloadablePaths: ReadonlySet<string> = new Set([
  "server.log_level",
  "limits.key",
  "limits.organization",
  "engines",
  "models",
  "aliases",
  "routing",
  "guardrails",
  "redaction",
  "discovery",
  "speech",
  "transcription.max_audio_seconds",
  "transcription.sentences",
  "alerts.groups",
  "alerts.rule_files",
  "alerts.receivers",
  "alerts.resend_delay_ms",
  "alerts.evaluation_timeout_ms",
  "alertGroups",
  "sign_in",
]);

/** Whether a change of the section or setting at this path takes effect without a restart. */
export function isReloadable(path: string): boolean {
  return reloadablePaths.has(path);
}
