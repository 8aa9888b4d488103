// Prints the stack traces of the last week.
import { AsyncSounding } from "@sounding/client";

const sounding = new AsyncSounding();

for await (const page of sounding.logs.pages({ min_severity: "error", time_window: "7d", detail: true })) {
  for (const { attributes } of page.samples.flatMap(({ entries }) => entries)) {
    const stack = attributes?.["exception.stacktrace"];
    if (stack !== undefined) console.log(stack);
  }
}
