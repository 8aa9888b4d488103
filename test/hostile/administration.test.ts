/** The endpoints that administer, sign in and classify: an administrator of one organization and callers without a key attack them. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
/** What the moderation endpoint answers. */
let verdict = "{}";

beforeTests(async (stack) => {
  const endpoint = createServer((request, response) => {
    request.resume().on("end", () => response.setHeader("content-type", "application/json").end(verdict));
  });
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  stack.defer(() => endpoint.close().closeAllConnections());
  const { port } = endpoint.address() as AddressInfo;
  server = stack.use(
    await startAttackedServer(
      `guardrails: { judge: { type: moderation, base_url: "http://127.0.0.1:${port}/v1", projects: [judged], categories: { violence: { action: block } } } }\n`,
    ),
  );
});

interface Call {
  /** Absent: 127.0.0.1. */
  readonly host?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly form?: string;
  readonly key?: string | undefined;
  readonly headers?: Record<string, string>;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function call(
  path: string,
  { body, form, headers, host = "127.0.0.1", key, method }: Call = {},
): Promise<Answer> {
  const sent = form ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(`http://${host}:${server.port}${path}`, {
    method: method ?? (sent === undefined ? "GET" : "POST"),
    headers: {
      "content-type": form === undefined ? "application/json" : "application/x-www-form-urlencoded",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  });
  return { status: response.status, text: await response.text() };
}

/** Ten at a time; how often each status came. */
async function repeat(count: number, run: (index: number) => Promise<Answer>): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  let next = 0;
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      while (next < count) {
        const { status } = await run(next++);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  return statuses;
}

const admin = (): string => server.placeholders["admin"]!;
const hostileTexts = ["'; DROP TABLE people; --", "\0", "\ud800", "💸".repeat(64), "../../keys", "x".repeat(5000)];

describe("an administrator of one organization", { timeout: 300_000 }, () => {
  test("fills it with keys, people and roles, and lists them all again and again", async () => {
    const report = await attack(server, async () => {
      await repeat(300, (index) =>
        call("/admin/v1/keys", { key: admin(), body: { name: `k${index}`, permissions: [] } }),
      );
      const roles = await repeat(220, (index) =>
        call("/admin/v1/roles", { key: admin(), body: { name: `r${index}`, permissions: ["inference"] } }),
      );
      assert.deepEqual([roles.get(201), roles.get(409)], [200, 20], JSON.stringify([...roles]));
      for (const path of [
        "/admin/v1/keys?limit=100",
        "/governance/users?limit=1000&offset=10000",
        "/admin/v1/audit?limit=100",
      ]) {
        const statuses = await repeat(100, () => call(path, { key: admin() }));
        assert.ok(
          [...statuses.keys()].every((status) => [200, 404].includes(status)),
          `${path} ${[...statuses].join(" ")}`,
        );
      }
    });
    assertUnharmed(report, { maximumPeakBytes: 200_000_000 });
  });

  test("sends hostile names, filters and bodies to everything that administers", async () => {
    const report = await attack(server, async () => {
      for (const text of hostileTexts) {
        const encoded = encodeURIComponent(text.toWellFormed());
        for (const path of [
          "audit?action",
          "audit?actor",
          "audit?start",
          "people?search",
          "budgets?after",
          "sessions?after",
        ]) {
          const { status } = await call(`/admin/v1/${path}=${encoded}`, { key: admin() });
          assert.ok(status < 500, `${path}: ${status}`);
        }
        for (const [path, body] of [
          ["people", { email: text, name: text }],
          ["roles", { name: text, permissions: [text] }],
          ["budgets", { name: text, amount: 1e308, subject: "tag", tag: text, time_zone: text }],
          ["memberships", { person_id: text, role: text }],
        ] as const) {
          const { status } = await call(`/admin/v1/${path}`, { key: admin(), body });
          assert.ok(status < 500, `${path}: ${status}`);
        }
        for (const path of [`budgets/${encoded}`, `people/${encoded}`, `roles/${encoded}`]) {
          const { status } = await call(`/admin/v1/${path}`, { key: admin(), method: "DELETE" });
          assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
        }
      }
      const { status } = await call("/admin/v1/audit/verification", { key: admin() });
      assert.equal(status, 403);
    });
    assertUnharmed(report, { maximumPeakBytes: 200_000_000 });
  });

  test("limits each of many users by a hundred budgets", async () => {
    const report = await attack(server, async () => {
      const made = await repeat(110, (index) =>
        call("/admin/v1/budgets", {
          key: admin(),
          body: { name: `b${index}`, amount: 1000, subject: "user", unpriced: "allow", period: "day" },
        }),
      );
      assert.deepEqual([made.get(201), made.get(409)], [100, 10], JSON.stringify([...made]));
      const statuses = await repeat(300, (index) =>
        call("/v1/chat/completions", {
          key: server.placeholders["key"],
          body: {
            model: "scripted-chat",
            user: `user ${index}`,
            messages: [{ role: "user", content: "x" }],
            max_tokens: 1,
          },
        }),
      );
      assert.ok(
        [...statuses.keys()].every((status) => [200, 400, 429, 502, 503].includes(status)),
        [...statuses].join(" "),
      );
      await repeat(50, () => call("/admin/v1/budgets?limit=100", { key: admin() }));
    });
    assertUnharmed(report, { maximumPeakBytes: 300_000_000 });
  });
});

describe("callers without a key", { timeout: 300_000 }, () => {
  test("begin to sign terminals in and guess tokens, without end", async () => {
    const report = await attack(server, async () => {
      const begun = await repeat(500, (index) =>
        call("/authentication/device_authorization", { form: `client_id=${"x".repeat(7000)}${index}` }),
      );
      assert.deepEqual(
        [...begun.keys()].toSorted((one, other) => one - other),
        [200, 429],
      );
      assert.ok(begun.get(200)! < 40);
      const grant = "grant_type=urn:ietf:params:oauth:grant-type:device_code";
      const guessed = await repeat(1000, (index) =>
        call("/authentication/token", { form: `${grant}&device_code=${index}` }),
      );
      assert.deepEqual(
        [...guessed.keys()].toSorted((one, other) => one - other),
        [400, 429],
      );
      const revoked = await repeat(300, (index) => call("/authentication/revoke_token", { form: `token=${index}` }));
      assert.ok(
        [...revoked.keys()].every((status) => [200, 429].includes(status)),
        [...revoked].join(" "),
      );
      const providers = await repeat(300, (index) =>
        call(`/sign-in/p${index}/callback?state=${"x".repeat(4000)}&code=y`),
      );
      assert.ok(
        [...providers.keys()].every((status) => status >= 400 && status < 500),
        [...providers].join(" "),
      );
    });
    assertUnharmed(report, { maximumPeakBytes: 200_000_000 });
  });

  test("begin to sign in with passkeys, and answer challenges with garbage, without end", async () => {
    const host = "localhost";
    const report = await attack(server, async () => {
      const challenges: string[] = [];
      const begun = await repeat(500, async () => {
        const answer = await call("/authentication/passkey_challenges", { host, method: "POST" });
        if (answer.status === 201)
          challenges.push((JSON.parse(answer.text) as { public_key: { challenge: string } }).public_key.challenge);
        return answer;
      });
      assert.deepEqual(
        [...begun.keys()].toSorted((one, other) => one - other),
        [201, 429],
      );
      assert.ok(challenges.length < 80, `${challenges.length} challenges in a minute`);
      const answered = await repeat(1000, (index) => {
        const challenge = challenges[index % challenges.length];
        const data = { type: "webauthn.get", challenge, origin: `http://${host}:${server.port}` };
        const response = {
          clientDataJSON: Buffer.from(JSON.stringify(data)).toString("base64url"),
          authenticatorData: "gYGB".repeat(500),
          signature: hostileTexts[index % hostileTexts.length]!.slice(0, 2048),
          userHandle: "x".repeat(128),
        };
        const credential = { id: `${index}`, rawId: `${index}`, type: "public-key", response };
        return call("/authentication/passkey_sessions", { host, body: { credential } });
      });
      assert.deepEqual(
        [...answered.keys()].toSorted((one, other) => one - other),
        [401, 429],
      );
    });
    assertUnharmed(report, { maximumPeakBytes: 200_000_000 });
  });
});

describe("moderations", { timeout: 300_000 }, () => {
  const judged = { "x-project": "judged" };

  test("of very many and very large inputs are bounded", async () => {
    verdict = '{"results":[{"flagged":false}]}';
    const report = await attack(server, async () => {
      for (const input of [
        Array.from({ length: 2048 }, () => "x".repeat(5000)),
        "x".repeat(15_000_000),
        Array.from({ length: 100_000 }, () => "x"),
        [
          { type: "text", text: "x".repeat(5_000_000) },
          { type: "image_url", image_url: { url: "data:".padEnd(5_000_000, "A") } },
        ],
      ]) {
        const statuses = await repeat(4, () =>
          call("/v1/moderations", { key: server.placeholders["key"], headers: judged, body: { input } }),
        );
        assert.ok(
          [...statuses.keys()].every((status) => [200, 400, 413, 429, 502, 503].includes(status)),
          [...statuses].join(" "),
        );
      }
    });
    // Four of 15 MB arrive and are encoded together.
    assertUnharmed(report, { maximumPeakBytes: 700_000_000, maximumTurnMs: 400 });
  });

  test("with an endpoint that answers with endless, nested or enormous results are bounded", async () => {
    const report = await attack(server, async () => {
      for (const answer of [
        "[".repeat(200_000),
        `{"results":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
        `{"results":[${Array.from({ length: 200_000 }, () => '{"flagged":true}').join()}]}`,
        `{"results":[{"flagged":false,"categories":{${Array.from({ length: 100_000 }, (_, index) => `"c${index}":true`).join()}}}]}`,
        `{"results":[{"flagged":false,"x":"${"y".repeat(8_000_000)}"}]}`,
      ]) {
        verdict = answer;
        const { status } = await call("/v1/moderations", {
          key: server.placeholders["key"],
          headers: judged,
          body: { input: "x" },
        });
        assert.ok([200, 502].includes(status), String(status));
      }
    });
    assertUnharmed(report, { maximumPeakBytes: 200_000_000 });
  });
});
