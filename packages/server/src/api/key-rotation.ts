/** The request and the response of rotating an API key. */
import { Type } from "typebox";
import { expiry, keyMembers } from "./keys.ts";
import { schema, type TypeOf } from "./schema.ts";

export const KeyRotate = schema(
  Type.Object(
    {
      grace_seconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 31_536_000,
          description: "How long the old key stays valid, in seconds. Default 0: it is revoked immediately.",
        }),
      ),
      expires_at: Type.Optional(expiry),
    },
    {
      additionalProperties: false,
      description: "How to rotate a key. Absent `expires_at`: the new key expires when the old one would have.",
    },
  ),
);
export type KeyRotate = TypeOf<typeof KeyRotate>;

export const KeyRotation = schema(
  Type.Object(
    {
      ...keyMembers,
      secret: Type.String({ description: "The new API key itself, returned only in this response." }),
      replaced: Type.Object(keyMembers, { description: "The old key, which is revoked or expires." }),
    },
    { description: "The new API key with its secret, and the key that it replaces." },
  ),
);
export type KeyRotation = TypeOf<typeof KeyRotation>;
