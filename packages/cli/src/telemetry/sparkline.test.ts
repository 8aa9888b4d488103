import assert from "node:assert/strict";
import { test } from "node:test";
import { sparkline } from "./sparkline.ts";

test("a sparkline has a bar for each number", () => {
  assert.equal(sparkline([0, 1, 2, 3, 4, 5, 6, 7]), "▁▂▃▄▅▆▇█");
  assert.equal(sparkline([7, Number.NaN, 0]), "█ ▁");
  assert.equal(sparkline([0, 0]), "▁▁");
  assert.equal(sparkline([-1, 1]), "▁█");
  assert.equal(sparkline([]), "");
});
