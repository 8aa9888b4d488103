import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { AppError } from "../errors.ts";
import { silentLogger } from "../logger.ts";
import { Scope, type Limits } from "../tenant.ts";
import type { Admission } from "./admission.ts";
import { createLimiter, type Limiter } from "./limiter.ts";
import { MonthlyUsage, type UsageEntry } from "./monthly-usage.ts";

/** 2026-11-21T12:00:00Z */
const startMs = Date.UTC(2026, 10, 21, 12);

interface Setup {
  readonly key?: Limits;
  readonly organization?: Limits;
  readonly kept?: readonly UsageEntry[];
  readonly maxSubjects?: number;
}

async function setUp({ key = {}, organization = {}, kept = [], maxSubjects }: Setup = {}) {
  const clock = { nowMs: startMs };
  const now = (): number => clock.nowMs;
  const ledger = { add: async () => {}, read: async () => kept };
  const usage = await MonthlyUsage.open({ ledger, logger: silentLogger, now, flushIntervalMs: 3_600_000 });
  const created = createLimiter({
    defaults: { key, organization },
    usage,
    now,
    ...(maxSubjects === undefined ? {} : { maxSubjects }),
  });
  const limiter = {
    ...created,
    admit: (...call: Parameters<Limiter["admit"]>) => atOnce(created.admit(...call)),
    admitTelemetry: (...call: Parameters<Limiter["admitTelemetry"]>) => atOnce(created.admitTelemetry(...call)),
  };
  return { clock, limiter, usage };
}

/** Without shared limits, nothing waits. */
function atOnce(admission: Admission | Promise<Admission>): Admission {
  if (admission instanceof Promise) assert.fail("the admission waits");
  return admission;
}

function scope(own: { keyId?: string; organizationId?: string; key?: Limits; organization?: Limits } = {}): Scope {
  const { keyId = "key-1", organizationId = "org-1" } = own;
  return Scope.fromKey({
    keyId,
    keyName: `name of ${keyId}`,
    organizationId,
    organizationName: `name of ${organizationId}`,
    operator: false,
    projectName: undefined,
    permissions: new Set(["inference"]),
    keyLimits: own.key ?? {},
    limitsKeyId: keyId,
    organizationLimits: own.organization ?? {},
    allowedModels: undefined,
  });
}

function refusal(admit: () => unknown): AppError {
  try {
    admit();
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    return error;
  }
  return assert.fail("the call was admitted");
}

describe("requests a minute", () => {
  test("are counted by key, and the error names the limit, its value and when to retry", async () => {
    const { limiter, clock } = await setUp({ key: { requests_per_minute: 2 } });
    for (let call = 0; call < 2; call++) limiter.admit(scope(), { estimatedTokens: 1 }).settle({ tokens: 1 });
    const error = refusal(() => limiter.admit(scope(), { estimatedTokens: 1 }));
    assert.equal(error.code, "rate_limited");
    assert.equal(error.status, 429);
    assert.equal(error.retryAfterMs, 30_000);
    assert.equal(
      error.message,
      'The API key "name of key-1" is limited to 2 requests per minute, and all have been used. Retry in 30s.',
    );
    limiter.admit(scope({ keyId: "key-2" }), { estimatedTokens: 1 });
    clock.nowMs += 30_000;
    limiter.admit(scope(), { estimatedTokens: 1 });
  });

  test("are counted over all keys of an organization", async () => {
    const { limiter } = await setUp({ organization: { requests_per_minute: 2 } });
    limiter.admit(scope({ keyId: "a" }), { estimatedTokens: 1 });
    limiter.admit(scope({ keyId: "b" }), { estimatedTokens: 1 });
    const error = refusal(() => limiter.admit(scope({ keyId: "c" }), { estimatedTokens: 1 }));
    assert.match(error.message, /^The organization "name of org-1" is limited to 2 requests per minute/);
    limiter.admit(scope({ keyId: "d", organizationId: "org-2" }), { estimatedTokens: 1 });
  });

  test("a refused call consumes no limit", async () => {
    const { limiter, clock } = await setUp({
      key: { requests_per_minute: 1 },
      organization: { requests_per_minute: 2 },
    });
    limiter.admit(scope({ keyId: "a" }), { estimatedTokens: 1 });
    for (let call = 0; call < 10; call++) refusal(() => limiter.admit(scope({ keyId: "a" }), { estimatedTokens: 1 }));
    limiter.admit(scope({ keyId: "b" }), { estimatedTokens: 1 });
    clock.nowMs += 60_000;
    limiter.admit(scope({ keyId: "a" }), { estimatedTokens: 1 });
  });

  test("of two exceeded limits, the error reports the one with the longer wait", async () => {
    const { limiter } = await setUp({ key: { requests_per_minute: 60 }, organization: { requests_per_minute: 1 } });
    limiter.admit(scope({ key: { requests_per_minute: 1 } }), { estimatedTokens: 1 });
    const error = refusal(() =>
      limiter.admit(scope({ key: { requests_per_minute: 1 }, organization: { requests_per_minute: 3 } }), {
        estimatedTokens: 1,
      }),
    );
    assert.match(error.message, /^The API key/);
    assert.equal(error.retryAfterMs, 60_000);
  });
});

describe("tokens per minute", () => {
  test("are reserved by the estimate and corrected by the actual usage", async () => {
    const { limiter } = await setUp({ key: { tokens_per_minute: 1_000 } });
    const first = limiter.admit(scope(), { estimatedTokens: 900 });
    const error = refusal(() => limiter.admit(scope(), { estimatedTokens: 200 }));
    assert.equal(
      error.message,
      'The API key "name of key-1" is limited to 1000 tokens per minute; 100 are left, and this request may need 200. Retry in 6s.',
    );
    first.settle({ tokens: 50 });
    const second = limiter.admit(scope(), { estimatedTokens: 200 });
    assert.equal(second.headers()["x-ratelimit-remaining-tokens"], "750");
  });

  test("a call larger than the limit waits for a full bucket, then runs and overdraws it", async () => {
    const { limiter, clock } = await setUp({ key: { tokens_per_minute: 1_000 } });
    limiter.admit(scope(), { estimatedTokens: 50_000 }).settle({ tokens: 3_000 });
    assert.equal(refusal(() => limiter.admit(scope(), { estimatedTokens: 1 })).retryAfterMs, 120_060);
    clock.nowMs += 120_060;
    limiter.admit(scope(), { estimatedTokens: 1 });
  });

  test("a failed call costs none", async () => {
    const { limiter } = await setUp({ key: { tokens_per_minute: 100 } });
    for (let call = 0; call < 50; call++) limiter.admit(scope(), { estimatedTokens: 100 }).settle({ tokens: 0 });
  });
});

describe("concurrent requests", () => {
  test("release their slot once they are settled", async () => {
    const { limiter } = await setUp({ key: { concurrent_requests: 2 } });
    const first = limiter.admit(scope(), { estimatedTokens: 1 });
    limiter.admit(scope(), { estimatedTokens: 1 });
    const error = refusal(() => limiter.admit(scope(), { estimatedTokens: 1 }));
    assert.equal(
      error.message,
      'The API key "name of key-1" is limited to 2 concurrent requests, and 2 are running. Retry when one has finished.',
    );
    assert.equal(error.retryAfterMs, 1_000);
    first.settle({ tokens: 1 });
    first.settle({ tokens: 1 });
    limiter.admit(scope(), { estimatedTokens: 1 });
    refusal(() => limiter.admit(scope(), { estimatedTokens: 1 }));
  });
});

test("a cancelled call returns everything it reserved, once", async () => {
  const limits = { concurrent_requests: 1, requests_per_minute: 1, tokens_per_minute: 100 };
  const { limiter } = await setUp({ key: limits, organization: limits });
  const cancelled = limiter.admit(scope(), { estimatedTokens: 100 });
  cancelled.cancel();
  const second = limiter.admit(scope(), { estimatedTokens: 100 });
  cancelled.cancel();
  cancelled.settle({ tokens: 1 });
  refusal(() => limiter.admit(scope(), { estimatedTokens: 0 }));
  second.settle({ tokens: 0 });
  second.cancel();
  const { retryAfterMs } = refusal(() => limiter.admit(scope(), { estimatedTokens: 0 }));
  assert.equal(retryAfterMs, 60_000, "the second one's request is used");
});

describe("tokens per month", () => {
  const kept = [
    { organizationId: "org-1", keyId: "key-1", month: "2026-11", tokens: 600 },
    { organizationId: "org-1", keyId: "key-9", month: "2026-11", tokens: 300 },
  ];

  test("continue from the ledger, and the call that exceeds the budget is completed", async () => {
    const { limiter } = await setUp({ organization: { tokens_per_month: 1_000 }, kept });
    limiter.admit(scope(), { estimatedTokens: 1 }).settle({ tokens: 150 });
    const error = refusal(() => limiter.admit(scope(), { estimatedTokens: 1 }));
    assert.equal(error.code, "quota_exceeded");
    assert.equal(error.wireCode, "insufficient_quota");
    assert.equal(
      error.message,
      'The organization "name of org-1" has a budget of 1000 tokens per month, and 1050 have been used in 2026-11; the next month starts at 2026-12-01T00:00:00Z.',
    );
    assert.equal(error.retryAfterMs, Date.UTC(2026, 11, 1) - startMs);
  });

  test("of a key do not count towards other keys", async () => {
    const { limiter } = await setUp({ key: { tokens_per_month: 601 }, kept });
    limiter.admit(scope(), { estimatedTokens: 1 }).settle({ tokens: 1 });
    assert.equal(refusal(() => limiter.admit(scope(), { estimatedTokens: 1 })).code, "quota_exceeded");
    limiter.admit(scope({ keyId: "key-9" }), { estimatedTokens: 1 });
  });

  test("reserved by calls in flight are not available to others", async () => {
    const { limiter } = await setUp({ key: { tokens_per_month: 1_000 }, kept });
    const first = limiter.admit(scope(), { estimatedTokens: 500 });
    const error = refusal(() => limiter.admit(scope(), { estimatedTokens: 1 }));
    assert.equal(error.code, "rate_limited");
    assert.match(error.message, /600 have been used, and calls in flight may need the rest/);
    first.settle({ tokens: 10 });
    limiter.admit(scope(), { estimatedTokens: 1 });
  });

  test("start from zero in the next month", async () => {
    const { limiter, clock } = await setUp({ key: { tokens_per_month: 600 }, kept });
    assert.equal(refusal(() => limiter.admit(scope(), { estimatedTokens: 1 })).code, "quota_exceeded");
    clock.nowMs = Date.UTC(2026, 11, 1);
    limiter.admit(scope(), { estimatedTokens: 1 });
  });
});

describe("telemetry queries and exports", () => {
  test("have their own buckets, separate from each other and from inference", async () => {
    const { limiter } = await setUp({ key: { requests_per_minute: 1, concurrent_requests: 1 } });
    limiter.admit(scope(), { estimatedTokens: 1 });
    limiter.admitTelemetry(scope(), "query");
    limiter.admitTelemetry(scope(), "ingest");
    const error = refusal(() => limiter.admitTelemetry(scope(), "query"));
    assert.equal(
      error.message,
      'The API key "name of key-1" is limited to 1 telemetry queries per minute, and all have been used. Retry in 1m0s.',
    );
    assert.match(refusal(() => limiter.admitTelemetry(scope(), "ingest")).message, /1 telemetry exports per minute/);
    assert.equal(error.headers?.["x-ratelimit-remaining-requests"], "0");
  });

  test("are counted over all keys of an organization", async () => {
    const { limiter } = await setUp({ organization: { concurrent_requests: 1 } });
    const first = limiter.admitTelemetry(scope({ keyId: "a" }), "query");
    const error = refusal(() => limiter.admitTelemetry(scope({ keyId: "b" }), "query"));
    assert.match(error.message, /^The organization .* 1 concurrent telemetry queries, and 1 are running/);
    first.settle();
    limiter.admitTelemetry(scope({ keyId: "b" }), "query");
  });

  test("ignore token limits", async () => {
    const { limiter } = await setUp({ key: { tokens_per_minute: 1, tokens_per_month: 1 } });
    limiter.admit(scope(), { estimatedTokens: 1 }).settle({ tokens: 5 });
    limiter.admitTelemetry(scope(), "query");
  });
});

describe("compute seconds per minute", () => {
  test("are charged while the request runs, and an overdraft delays later requests", async () => {
    const { limiter, clock } = await setUp({ key: { compute_seconds_per_minute: 10 } });
    const heavy = limiter.admitTelemetry(scope(), "query");
    heavy.charge(4);
    limiter.admitTelemetry(scope(), "query").settle();
    heavy.charge(21);
    const error = refusal(() => limiter.admitTelemetry(scope(), "query"));
    assert.equal(
      error.message,
      'The API key "name of key-1" is limited to 10 compute seconds per minute for telemetry queries, and 25.0 have been used. Retry in 1m30s.',
    );
    assert.equal(error.retryAfterMs, 90_000);
    assert.deepEqual(error.headers, {
      "x-ratelimit-limit-compute-seconds": "10",
      "x-ratelimit-remaining-compute-seconds": "0",
      "x-ratelimit-reset-compute-seconds": "2m30s",
    });
    heavy.settle();
    clock.nowMs += 90_000;
    limiter.admitTelemetry(scope(), "query");
  });

  test("of an idle key are kept while other keys are created and evicted", async () => {
    const { limiter } = await setUp({ key: { compute_seconds_per_minute: 10 }, maxSubjects: 50 });
    const heavy = limiter.admitTelemetry(scope(), "ingest");
    heavy.charge(30);
    heavy.settle();
    for (let other = 0; other < 40; other++)
      limiter.admitTelemetry(scope({ keyId: `other-${other}` }), "ingest").settle();
    refusal(() => limiter.admitTelemetry(scope(), "ingest"));
  });

  test("of the organization add up over its keys, separately for queries and exports", async () => {
    const { limiter } = await setUp({ organization: { compute_seconds_per_minute: 1 } });
    limiter.admitTelemetry(scope({ keyId: "a" }), "query").charge(0.6);
    limiter.admitTelemetry(scope({ keyId: "b" }), "query").charge(0.6);
    assert.match(
      refusal(() => limiter.admitTelemetry(scope({ keyId: "c" }), "query")).message,
      /and 1\.2 have been used/,
    );
    limiter.admitTelemetry(scope({ keyId: "c" }), "ingest");
  });

  test("do not count for inference", async () => {
    const { limiter } = await setUp({ key: { compute_seconds_per_minute: 1 } });
    limiter.admit(scope(), { estimatedTokens: 1 }).charge(100);
    limiter.admit(scope(), { estimatedTokens: 1 });
  });
});

describe("limits of a key or an organization", () => {
  test("take precedence over the defaults, one by one", async () => {
    const { limiter } = await setUp({ key: { requests_per_minute: 1, concurrent_requests: 1 } });
    const own = scope({ key: { requests_per_minute: 3 } });
    limiter.admit(own, { estimatedTokens: 1 });
    assert.match(refusal(() => limiter.admit(own, { estimatedTokens: 1 })).message, /concurrent/);
  });

  test("new defaults apply from the next call on", async () => {
    const { limiter } = await setUp();
    for (let call = 0; call < 5; call++) limiter.admit(scope(), { estimatedTokens: 1 });
    limiter.setDefaults({ key: { requests_per_minute: 1 }, organization: {} });
    limiter.admit(scope(), { estimatedTokens: 1 });
    refusal(() => limiter.admit(scope(), { estimatedTokens: 1 }));
  });
});

describe("the headers", () => {
  test("follow OpenAI's names and describe the limit with the least left", async () => {
    const { limiter } = await setUp({
      key: { requests_per_minute: 60, tokens_per_minute: 10_000 },
      organization: { requests_per_minute: 10_000, tokens_per_minute: 6_000 },
    });
    assert.deepEqual(limiter.admit(scope(), { estimatedTokens: 3_000 }).headers(), {
      "x-ratelimit-limit-requests": "60",
      "x-ratelimit-remaining-requests": "59",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-limit-tokens": "6000",
      "x-ratelimit-remaining-tokens": "3000",
      "x-ratelimit-reset-tokens": "30s",
    });
  });

  test("are sent with a refusal too", async () => {
    const { limiter } = await setUp({ key: { requests_per_minute: 1 } });
    limiter.admit(scope(), { estimatedTokens: 1 });
    assert.deepEqual(refusal(() => limiter.admit(scope(), { estimatedTokens: 1 })).headers, {
      "x-ratelimit-limit-requests": "1",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1m0s",
    });
  });

  test("are absent if no limit is set", async () => {
    const { limiter } = await setUp({ key: { tokens_per_minute: 10 } });
    assert.deepEqual(Object.keys(limiter.admit(scope(), { estimatedTokens: 3 }).headers()), [
      "x-ratelimit-limit-tokens",
      "x-ratelimit-remaining-tokens",
      "x-ratelimit-reset-tokens",
    ]);
  });
});

test("after any calls, settled in any order, no limit is exceeded and all reservations are released", async () => {
  const call = fc.record({
    key: fc.integer({ min: 0, max: 2 }),
    afterMs: fc.integer({ min: 0, max: 5_000 }),
    estimatedTokens: fc.integer({ min: 0, max: 200 }),
    usedTokens: fc.integer({ min: 0, max: 200 }),
    settleNow: fc.boolean(),
  });
  const limits = { requests_per_minute: 30, concurrent_requests: 4, tokens_per_minute: 1_000 };
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 60 }), async (calls) => {
      const { limiter, clock } = await setUp({ key: limits, organization: { ...limits, concurrent_requests: 6 } });
      const open: { admission: Admission; keyId: string; usedTokens: number }[] = [];
      for (const { key, afterMs, estimatedTokens, usedTokens, settleNow } of calls) {
        clock.nowMs += afterMs;
        const keyId = `key-${key}`;
        try {
          open.push({ admission: limiter.admit(scope({ keyId }), { estimatedTokens }), keyId, usedTokens });
        } catch (error) {
          assert.ok(error instanceof AppError && (error.retryAfterMs ?? 0) > 0);
        }
        assert.ok(open.length <= 6);
        assert.ok(open.filter((each) => each.keyId === keyId).length <= 4);
        if (settleNow) for (const each of open.splice(0, 1)) each.admission.settle({ tokens: each.usedTokens });
      }
      for (const each of open) each.admission.settle({ tokens: each.usedTokens });
      clock.nowMs += 3_600_000;
      const last = limiter.admit(scope({ keyId: "key-0" }), { estimatedTokens: 0 });
      assert.equal(last.headers()["x-ratelimit-remaining-tokens"], "1000");
      assert.equal(last.headers()["x-ratelimit-remaining-requests"], "29");
    }),
  );
});
