/** Lists an engine's models. https://platform.openai.com/docs/api-reference/models/list */
import type { ModelDescription } from "../engine.ts";
import { requestJson } from "../upstream-http/request-json.ts";
import type { ConnectionPool } from "../upstream-http/connection-pool.ts";
import type { OutgoingRequest } from "../upstream-http/upstream-request.ts";
import { isObject, nonEmptyText, wholeNumber } from "../../json-object.ts";
import { invalidResponse } from "../upstream-http/invalid-response.ts";

const maxListBytes = 8_388_608;
const maxModels = 10_000;

export interface ModelListRequest extends Pick<OutgoingRequest, "path" | "headers" | "signal" | "limits"> {
  /** The owner of models for which the engine reports none. */
  readonly ownedBy: string;
}

/** @throws AppError as a call does; entries without an ID are skipped */
export async function listModels(pool: ConnectionPool, request: ModelListRequest): Promise<ModelDescription[]> {
  const { ownedBy, ...rest } = request;
  const answer = await requestJson(pool, { ...rest, method: "GET", isStream: false }, maxListBytes);
  const list = isObject(answer) ? (answer["data"] ?? answer["models"]) : answer;
  if (!Array.isArray(list)) throw invalidResponse("it is not a list of models");
  const models = new Map<string, ModelDescription>();
  for (const entry of list.slice(0, maxModels) as unknown[]) {
    if (!isObject(entry)) continue;
    const id = nonEmptyText(entry["id"]) ?? nonEmptyText(entry["name"]);
    if (id === undefined || models.has(id)) continue;
    models.set(id, {
      id,
      created: wholeNumber(entry["created"]) ?? 0,
      ownedBy: nonEmptyText(entry["owned_by"]) ?? ownedBy,
    });
  }
  return [...models.values()];
}
