/** Tells a client whose key it holds. The reference service's Python SDK calls it when its asynchronous client is made. */
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
      permissions: Type.Array(Type.Enum([...permissions]), { description: "What the key may do." }),
    },
    { description: "Whose key it is and what it may do." },
  ),
);

export const validateKey = operation({
  id: "validateKey",
  method: "POST",
  path: "/authentication/validate",
  tag: "Keys",
  summary: "Tell whose key this is and what it may do",
  permission: "any",
  answer: { type: "application/json", schema: KeyIdentity, description: "The key is valid." },
});
