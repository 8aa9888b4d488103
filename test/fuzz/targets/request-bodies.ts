/** Request bodies against the schemas of their operations, without HTTP: the check and its error message. */
import { operations } from "../../../packages/server/src/api/index.ts";
import { validate } from "../../../packages/server/src/api/validate.ts";
import { AppError } from "../../../packages/server/src/errors.ts";
import { mutateJson } from "../mutate-json.ts";
import { schemaValue } from "../schema-values.ts";
import type { DirectTarget } from "../target.ts";

const withBody = operations.flatMap(({ body, form }) => body ?? form?.fields ?? []);

/** `server.max_json_body_bytes`: the server refuses longer bodies before it parses them. */
const longestBodyBytes = 16_777_216;

/** The first byte is the schema's index, the rest JSON. */
export const requestBodiesTarget: DirectTarget = {
  kind: "direct",
  name: "request-bodies",
  perSecond: 2000,
  share: 2,
  generate(random) {
    const index = random.below(withBody.length);
    let value = schemaValue(withBody[index]!.json, random);
    value = mutateJson(value, random, 1 + random.size(5));
    return Buffer.concat([Buffer.from([index]), Buffer.from(JSON.stringify(value) ?? "null")]);
  },
  run(input) {
    if (input.length > longestBodyBytes) return "413";
    const schema = withBody[(input[0] ?? 0) % withBody.length]!;
    const value: unknown = JSON.parse(Buffer.from(input.subarray(1)).toString("utf8"));
    try {
      validate(schema, value);
      return "valid";
    } catch (error) {
      if (error instanceof AppError && error.status < 500) return String(error.status);
      throw error;
    }
  },
};
