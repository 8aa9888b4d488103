import assert from "node:assert/strict";
import { test } from "node:test";
import { Roster } from "./roster.ts";

test("who was added is here until taken out, in whatever order", () => {
  const roster = new Roster<{ rosterIndex: number; name: string }>();
  const [one, two, three] = ["one", "two", "three"].map((name) => ({ rosterIndex: -1, name })) as [never, never, never];
  const here = (): string[] => {
    const names: string[] = [];
    roster.forEach(({ name }) => names.push(name));
    return names.toSorted();
  };
  for (const member of [one, two, three, two]) roster.add(member);
  assert.deepEqual(here(), ["one", "three", "two"]);
  roster.delete(one);
  roster.delete(one);
  assert.deepEqual(here(), ["three", "two"]);
  roster.add(one);
  roster.delete(three);
  assert.deepEqual(here(), ["one", "two"]);
  roster.delete(two);
  roster.delete(one);
  assert.equal(roster.size, 0);
});

test("those who are taken out during a visit of all are not visited any more", () => {
  const roster = new Roster<{ rosterIndex: number }>();
  const members = Array.from({ length: 5 }, () => ({ rosterIndex: -1 }));
  for (const member of members) roster.add(member);
  let visits = 0;
  roster.forEach(() => {
    visits++;
    for (const member of members) roster.delete(member);
  });
  assert.equal(visits, 1);
});
