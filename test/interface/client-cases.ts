/** The clients themselves: their modes, credentials, failures and default address. */
import assert from "node:assert/strict";
import {
  ApiStatusError,
  AsyncSounding,
  AuthenticationError,
  NotFoundError,
  PermissionDeniedError,
} from "@sounding/client";
import { Sounding } from "@sounding/client/sync";
import type { InterfaceCase } from "./interface-case.ts";

export const clientCases: readonly InterfaceCase[] = [
  {
    name: "both clients have the same operations with the same parameters",
    shows: ["clients/two-modes"],
    withoutClient: true,
    async run({ facts }) {
      const options = { apiKey: facts.key, baseUrl: facts.url };
      const [one, other] = [new AsyncSounding(options), new Sounding(options)];
      const operations = [operationsOf(one), operationsOf(other)];
      assert.deepEqual(operations[0], operations[1]);
      assert.ok(operations[0]!.length >= 8, operations[0]!.join());
    },
  },
  {
    name: "operations of the asynchronous client return promises, those of the synchronous client values",
    shows: ["clients/awaiting"],
    async run({ client, mode }) {
      const answer: unknown = client.models.list();
      assert.equal(answer instanceof Promise, mode === "asynchronous");
      assert.equal((await (answer as ReturnType<typeof client.models.list>)).object, "list");
    },
  },
  {
    name: "a status that is not 2xx throws an error with that status",
    shows: ["clients/http-status-errors"],
    async run({ client, make }) {
      const raised = async (work: () => unknown): Promise<ApiStatusError> => {
        try {
          await work();
        } catch (error) {
          assert.ok(error instanceof ApiStatusError, String(error));
          return error;
        }
        throw new assert.AssertionError({ message: "nothing was raised" });
      };
      const unknown = await raised(() => client.models.retrieve("no-such-model"));
      assert.deepEqual([unknown instanceof NotFoundError, unknown.status], [true, 404]);
      const refused = await raised(() => make({ apiKey: "sk-nobody" }).models.list());
      assert.deepEqual([refused instanceof AuthenticationError, refused.status], [true, 401]);
      const wrong = await raised(() => client.logs.query({ limit: 0 }));
      assert.deepEqual([wrong.status, wrong.param], [400, "limit"]);
    },
  },
  {
    name: "every observability endpoint needs a key in the header Authorization",
    shows: ["authentication-and-tenants/bearer-key", "endpoints/post-observability-logs"],
    withoutClient: true,
    async run({ facts }) {
      const requests = { logs: {}, metrics: { metric: "session_total" }, traces: { trace: "all_traces" } };
      for (const [kind, parameters] of Object.entries(requests)) {
        const ask = (headers: Record<string, string>) =>
          fetch(`${facts.url}/observability/${kind}`, {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body: JSON.stringify(parameters),
          });
        assert.equal((await ask({})).status, 401);
        assert.equal((await ask({ authorization: "Bearer sk-nobody" })).status, 401);
        assert.equal((await ask({ authorization: `Bearer ${facts.key}` })).status, 200);
      }
    },
  },
  {
    name: "a client is created with api_key, and optionally with an account name",
    shows: ["clients/credentials"],
    async run({ facts, make }) {
      const plain = { apiKey: undefined, api_key: facts.key };
      assert.equal((await make(plain).models.list()).object, "list");
      assert.equal((await make({ ...plain, account: facts.organizationName }).models.list()).object, "list");
      await assert.rejects(
        async () => make({ ...plain, account: "somebody else" }).models.list(),
        PermissionDeniedError,
      );
    },
  },
  {
    name: "organization_id may be omitted, and another organization is refused",
    shows: [
      "authentication-and-tenants/organization-of-the-key",
      "authentication-and-tenants/tenant-isolation",
      "log-queries/organization_id",
      "metric-queries/organization_id",
      "trace-queries/organization_id",
    ],
    async run({ client, facts }) {
      const queries = [
        (organization_id?: string) => client.logs.query({ organization_id }),
        (organization_id?: string) => client.metrics.query({ metric: "session_total", organization_id }),
        (organization_id?: string) => client.traces.query({ trace: "all_traces", organization_id }),
      ];
      for (const query of queries) {
        assert.equal((await query()).status, "success");
        assert.equal((await query(facts.organizationId)).status, "success");
        await assert.rejects(
          async () => query(facts.strangerId),
          (error) => error instanceof PermissionDeniedError && error.code === "organization_mismatch",
        );
      }
    },
  },
  {
    name: "the contract describes streams and no webhooks",
    shows: ["endpoints/no-webhooks"],
    withoutClient: true,
    async run({ facts }) {
      const document = (await (await fetch(`${facts.url}/openapi.json`)).json()) as Record<string, unknown>;
      assert.match(String(document["openapi"]), /^3\.1\./);
      assert.ok(Object.hasOwn(document, "paths") && !Object.hasOwn(document, "webhooks"));
    },
  },
  {
    name: "telemetry queries use the default address, and the environment variable of older SDKs has no effect",
    shows: ["clients/default-address"],
    async run({ client, make, facts }) {
      assert.equal((await client.logs.query({ limit: 1 })).status, "success");
      process.env["USE_AIR_API_V2_BASE_URL"] = "http://127.0.0.1:1";
      try {
        assert.equal((await make({ baseUrl: facts.url }).logs.query({ limit: 1 })).status, "success");
      } finally {
        delete process.env["USE_AIR_API_V2_BASE_URL"];
      }
    },
  },
];

/** The paths of all functions below a client. */
function operationsOf(value: object, path: readonly string[] = []): string[] {
  return Object.entries(value)
    .flatMap(([name, member]: [string, unknown]) => {
      if (typeof member === "function") return [[...path, name].join(".")];
      return typeof member === "object" && member !== null ? operationsOf(member, [...path, name]) : [];
    })
    .sort();
}
