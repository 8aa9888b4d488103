import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError, type ErrorCode } from "../errors.ts";
import { reportEnd } from "./report-end.ts";

async function* source(failure?: Error): AsyncGenerator<number, void, undefined> {
  yield 1;
  yield 2;
  if (failure !== undefined) throw failure;
}

describe("the end of a stream is reported once", () => {
  const ends: (ErrorCode | undefined)[] = [];
  const report = (error?: AppError): void => void ends.push(error?.code);

  test("without an error when it is complete", async () => {
    ends.length = 0;
    assert.deepEqual(await Array.fromAsync(reportEnd(source(), report)), [1, 2]);
    assert.deepEqual(ends, [undefined]);
  });

  test("with its error when it fails", async () => {
    ends.length = 0;
    const failure = new AppError("overloaded", "Busy.");
    await assert.rejects(Array.fromAsync(reportEnd(source(failure), report)), failure);
    assert.deepEqual(ends, ["overloaded"]);
  });

  test("as client_closed when its consumer stops reading", async () => {
    ends.length = 0;
    for await (const item of reportEnd(source(), report)) if (item === 1) break;
    assert.deepEqual(ends, ["client_closed"]);
  });
});
