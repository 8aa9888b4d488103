/** The job queue in isolation. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { JobQueue, type QueuedJob } from "./job-queue.ts";

function job(first: boolean, group = "", dueMs?: number): QueuedJob & { readonly rejections: unknown[] } {
  const rejections: unknown[] = [];
  return { first, group, dueMs, rejections, reject: (error) => void rejections.push(error) };
}

describe("queued jobs", () => {
  test("run the first jobs of calls before later ones, each in order of arrival", () => {
    const queue = new JobQueue();
    const jobs = [job(false), job(true), job(false), job(true)] as const;
    for (const each of jobs) queue.push(each);
    assert.equal(queue.length, 4);
    const gone = Array.from({ length: 5 }, () => jobs.indexOf(queue.next() as never));
    assert.deepEqual(gone, [1, 3, 0, 2, -1]);
  });

  test("run one later job after eight first ones, however many of these wait", () => {
    const queue = new JobQueue();
    for (let count = 0; count < 20; count++) queue.push(job(true));
    for (let count = 0; count < 2; count++) queue.push(job(false));
    const later = Array.from({ length: 22 }, () => queue.next()!).flatMap(({ first }, index) => (first ? [] : [index]));
    assert.deepEqual(later, [8, 17]);
  });

  test("run later jobs in the order in which they are due, within their organization", () => {
    const queue = new JobQueue();
    const jobs = [job(false, "", 30), job(false, "", 10), job(false, "other", 99), job(false, "", 20)];
    for (const each of jobs) queue.push(each);
    assert.deepEqual(
      Array.from({ length: 4 }, () => jobs.indexOf(queue.next() as never)),
      [1, 2, 3, 0],
    );
  });

  test("of one organization do not hold up another organization's single job", () => {
    const queue = new JobQueue();
    for (const first of [true, false]) for (let count = 0; count < 100; count++) queue.push(job(first, "crowd"));
    const single = job(false, "single");
    queue.push(single);
    const order = Array.from({ length: 30 }, () => queue.next());
    assert.ok(order.includes(single));
  });

  test("are no longer counted, reported or started once they are removed", () => {
    const queue = new JobQueue<ReturnType<typeof job>>();
    const [staying, leaving] = [job(true), job(true)];
    queue.push(leaving);
    queue.push(staying);
    queue.remove(leaving);
    queue.remove(leaving);
    assert.equal(queue.length, 1);
    queue.rejectAll("over");
    assert.deepEqual([staying.rejections, leaving.rejections], [["over"], []]);
    assert.equal(queue.next(), undefined);
  });
});
