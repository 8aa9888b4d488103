/** What the admin API promises: the targets of models, and lists. */
import assert from "node:assert/strict";
import type { InterfaceCase } from "./interface-case.ts";

export const adminCases: readonly InterfaceCase[] = [
  {
    name: "an operator key sees the targets of models, and no other key does",
    shows: ["models/targets"],
    withoutClient: true,
    async run({ facts }) {
      const get = (path: string, key: string): Promise<Response> =>
        fetch(`${facts.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
      const list = (await (await get("/admin/v1/models", facts.operatorKey)).json()) as { data: { id: string }[] };
      assert.ok(list.data.some(({ id }) => id === "assistant"));
      const one = await get("/admin/v1/models/assistant", facts.operatorKey);
      const { targets } = (await one.json()) as { targets: Record<string, unknown>[] };
      const { engine, model, weight, circuit, calls_in_flight, last_error, recent } = targets[0]!;
      assert.deepEqual([engine, model, weight, circuit], ["vendor", "vendor-model", 1, "closed"]);
      assert.ok(Number.isInteger(calls_in_flight) && last_error !== undefined && typeof recent === "object");
      for (const path of ["/admin/v1/models", "/admin/v1/models/assistant"])
        assert.equal((await get(path, facts.key)).status, 403);
    },
  },
  {
    name: "lists of the admin API have pages, an order and a search",
    shows: ["authentication-and-tenants/pages"],
    withoutClient: true,
    async run({ facts }) {
      const names = async (query: string): Promise<{ names: string[]; last: string }> => {
        const headers = { authorization: `Bearer ${facts.operatorKey}` };
        const response = await fetch(`${facts.url}/admin/v1/organizations?${query}`, { headers });
        const { data, last_id } = (await response.json()) as { data: { name: string }[]; last_id: string };
        return { names: data.map(({ name }) => name), last: last_id };
      };
      const oldest = await names("limit=1");
      assert.deepEqual(oldest.names, ["default"]);
      assert.deepEqual((await names(`limit=1&after=${oldest.last}`)).names, ["strangers"]);
      assert.deepEqual((await names("limit=1&order=desc")).names, ["strangers"]);
      assert.deepEqual((await names("search=FAUL")).names, ["default"]);
    },
  },
];
