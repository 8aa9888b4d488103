/** The operation that shows the owner of a key. The AI Refinery SDK calls it when an asynchronous client is created. */
import { Type } from "typebox";
import { permissions } from "../tenant.ts";
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
      permissions: Type.Array(Type.Enum([...permissions]), { description: "The key's permissions." }),
    },
    { description: "The key's owner and permissions." },
  ),
);

export const validateKey = operation({
  id: "validateKey",
  method: "POST",
  path: "/authentication/validate",
  tag: "Keys",
  summary: "Show the key's organization, project and permissions",
  permission: "any",
  answer: { type: "application/json", schema: KeyIdentity, description: "The key is valid." },
});
