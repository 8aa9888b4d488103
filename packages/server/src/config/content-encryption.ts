/** The keys that encrypt stored responses and recorded content: `content_encryption` of the configuration file. */
import { Type, type Static } from "typebox";
import { milliseconds, secret } from "./setting-types.ts";

/** 32 bytes. */
const keyPattern = "^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$";

export const contentEncryption = Type.Object(
  {
    key: Type.Optional(
      secret(
        "Key that encrypts stored responses, and recorded prompts and answers in telemetry: 32 random bytes as base64 or hex. Absent, without `key_command`: content is not encrypted.",
        {
          env: "SOUNDING_CONTENT_KEY",
          pattern: keyPattern,
        },
      ),
    ),
    key_command: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4_096, description: "A word of the command." }), {
        minItems: 1,
        maxItems: 64,
        description:
          "Program and arguments of a command that prints keys, one on each line, instead of `key`; for a key management service. The first key encrypts, all decrypt. It runs once, at start, without a shell.",
      }),
    ),
    key_command_timeout_ms: milliseconds(30_000, "Longest time of the command."),
    previous_keys: Type.Array(secret("A key that only decrypts.", { pattern: keyPattern }), {
      maxItems: 100,
      default: [],
      description: "Keys that only decrypt, for what was stored before the key was changed.",
    }),
  },
  { default: {}, description: "Encryption of stored responses, and of recorded prompts and answers in telemetry." },
);
export type ContentEncryptionSettings = Static<typeof contentEncryption>;
