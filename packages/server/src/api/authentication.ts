/** The operation that shows the owner of a key. `sounding whoami` and the AI Refinery SDK (when an asynchronous client is created) call it. */
import { Type } from "typebox";
import { permissions } from "../permissions.ts";
import { operation } from "./operation.ts";
import { schema } from "./schema.ts";

const KeyIdentity = schema(
  Type.Object(
    {
      organization_id: Type.String({ description: "Identifier of the key's organization." }),
      organization: Type.String({ description: "Name of the key's organization." }),
      project: Type.Union([Type.String(), Type.Null()], {
        description: "The project that the key is bound to, if any.",
      }),
      key_id: Type.String({ description: "Identifier of the key." }),
      key_name: Type.String({ description: "Name of the key." }),
      operator: Type.Boolean({ description: "Whether the key may administer all organizations (an operator key)." }),
      role: Type.Union([Type.String(), Type.Null()], {
        description:
          "The name of the key's role, or of the person's roles; null for a key with permissions of its own.",
      }),
      person_id: Type.Union([Type.String(), Type.Null()], {
        description: "Identifier of the person who calls; null for a key of a service.",
      }),
      permissions: Type.Array(Type.Enum([...permissions]), {
        description: "The permissions, with those that they include.",
      }),
    },
    { description: "The key's owner and permissions." },
  ),
);

export const validateKey = operation({
  id: "validateKey",
  method: "POST",
  path: "/authentication/validate",
  tag: "Keys",
  summary: "Show the key's name, organization, project and permissions",
  permission: "any",
  answer: { type: "application/json", schema: KeyIdentity, description: "The key is valid." },
});
